"""The sessions that jobs of GitHub Actions call: what they add is only files and outputs that other jobs read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from ci.sessions import PROJECT, ROOT, actionlint, developers, environment, latebind, verify

if TYPE_CHECKING:
    import nox


def plan(session: nox.Session) -> None:
    """The test cases as a matrix, for the job that asked: its output `matrix`."""
    tool = environment(session, "tool", "native", "verify")
    text = tool.capture_output(session, "latebind", "-C", PROJECT, "--workdir", ".", "matrix")
    _append("GITHUB_OUTPUT", f"matrix={text.strip()}\n")


def cases(session: nox.Session) -> None:
    """The share of the test cases that a job of the matrix (LATEBIND_JOB, JSON) is for, of the packages in dist/.

    A scheduled run has the newest pre-releases of the runtimes, too.
    """
    job = json.loads(os.environ["LATEBIND_JOB"])
    _, *arguments = job["args"].split()
    arguments += ["--prereleases"] if os.environ.get("GITHUB_EVENT_NAME") == "schedule" else []
    try:
        verify(session, *arguments, "--dist", "dist")
    finally:
        _summarise("reports/verify.md")


def gate(session: nox.Session, folder: str) -> None:
    """Merge the reports of all machines below a folder, and run the gate."""
    reports = sorted(str(path) for path in Path(folder).glob("*/verify.json"))
    try:
        latebind(session, "verify", "--merge", *reports)
    finally:
        _summarise("reports/verify.md")
    tool = environment(session, "tool", "native", "verify")
    summary = tool.capture_output(
        session, "latebind", "-C", PROJECT, "--workdir", ".", "gate", "--format", "markdown", codes=(0, 1)
    )
    _append("GITHUB_STEP_SUMMARY", summary)
    latebind(session, "gate")


def wheels(session: nox.Session) -> None:
    """latenn's wheels by cibuildwheel, on this system and for it, into wheelhouse/."""
    tool = environment(session, "tool", "native", "verify", groups=("wheels",))
    for name in ("latenn", *sorted(path.name for path in (ROOT / "latenn/python").glob("latenn_*"))):
        package = name.removeprefix("latenn_").replace("latenn", "core")
        arguments = ("-C", PROJECT, "cibuildwheel", package, "--latebind", "./loadcheck", "--latebind", "./[native]")
        file = Path(session.create_tmp()) / "cibuildwheel.toml"
        file.write_text(tool.capture_output(session, "latebind", *arguments), encoding="utf-8")
        tool.run(session, "cibuildwheel", "--config-file", str(file), f"latenn/python/{name}")


def workflows(session: nox.Session) -> None:
    """Lint the workflows, then run the steps of their Linux jobs in a fresh clone."""
    actionlint(session, fetch=True)
    developers(session).run(session, "pytest", "-m", "workflows", "-n", "0", "tests/ci/test_workflows.py")


def _append(variable: str, text: str) -> None:
    """Add text to a file that GitHub Actions names, where it does; else show it."""
    if file := os.environ.get(variable):
        with Path(file).open("a", encoding="utf-8") as stream:
            stream.write(text)
    else:
        print(text, end="")


def _summarise(file: str) -> None:
    if os.environ.get("GITHUB_STEP_SUMMARY") and (ROOT / file).is_file():
        _append("GITHUB_STEP_SUMMARY", (ROOT / file).read_text("utf-8"))

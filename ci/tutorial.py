"""Runs the tutorial as a reader would: pastes the commands of the page into one shell, one after the other.

    python -m ci.tutorial [--write]

The shell has a fresh home, and clones this repository in the place of the public one: what is committed. `--write` puts
the number of commands, their time and output size into docs/tutorial.md, and their output into the README.
Exit status: 0 all commands succeeded.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from latebind.backend.files import write_text

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tutorial.md"
README = ROOT / "README.md"
REPOSITORY = "https://github.com/latebind/latebind"
RECORDED = ("latebind pack", "latebind audit", "latebind verify")
_MEASURED = re.compile(r"(<!-- measured: .*? -->\n).*?(<!-- end -->)", re.DOTALL)
_RECORDING = re.compile(r"(<!-- recorded: .*? -->\n)(.*?)(<!-- end -->)", re.DOTALL)
_PROGRESS = re.compile(r"(still )?(building|built|packing|packed|verifying|verified|zig compiles) ")
_KEPT = ("PIP_", "UV_", "SSL_", "HTTP", "http", "no_proxy", "NO_PROXY")
_TIME_LIMIT = 900
_SHOWN = 4
"""How many lines of a command the README has before its last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One command of the page and what came of it."""

    command: str
    status: int
    seconds: float
    output: str


def commands(page: str) -> list[str]:
    """The blocks of a page that a reader pastes, in order."""
    return re.findall(r"^```bash\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def follow(blocks: list[str], folder: Path, cache: Path | None = None, python: Path | None = None) -> list[Ran]:
    """Paste the blocks into one shell that starts in an empty folder; ends with the first that fails.

    `cache` has what was downloaded and compiled before; a reader's is empty. `python3` is this Python's base, or
    `python`.
    """
    home, work, log, programs = folder / "home", folder / "work", folder / "log", folder / "bin"
    for each in (home, work, log, programs):
        each.mkdir()
    if python:
        (programs / "python3").symlink_to(python)
    inherited = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
    environment = {
        **inherited,
        "HOME": str(home),
        "PATH": f"{programs}{os.pathsep}{_path()}",
        "LANG": "C.UTF-8",
        "NO_COLOR": "1",
        **({"XDG_CACHE_HOME": str(cache)} if cache else {}),
        **_configure_git(),
    }
    script = "".join(
        f"date +%s.%N > {log}/{number}.begin\n{{ {block.rstrip()}\n}} > {log}/{number}.out 2>&1\n"
        f'status=$?; echo "$status $(date +%s.%N)" > {log}/{number}.end; test $status = 0 || exit $status\n'
        for number, block in enumerate(blocks)
    )
    shell = [shutil.which("bash") or "/bin/bash", "--noprofile", "--norc"]
    subprocess.run(
        shell, input=script, text=True, cwd=work, env=environment,
        check=False, timeout=_TIME_LIMIT, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return [_read_run(block, log, number) for number, block in enumerate(blocks) if (log / f"{number}.end").is_file()]


def _configure_git() -> dict[str, str]:
    """The environment in which git takes this repository for the public one, and has no other configuration."""
    pairs = ((f"url.{ROOT.as_uri()}.insteadOf", REPOSITORY), ("safe.directory", "*"))
    keys = {
        f"GIT_CONFIG_{part}_{n}": text
        for n, pair in enumerate(pairs)
        for part, text in zip(("KEY", "VALUE"), pair, strict=True)
    }
    return {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": str(len(pairs)), **keys}


def _path() -> str:
    """The programs of the system and a python3, without those of an environment that runs this."""
    base = str(Path(sys.base_prefix) / "bin")
    programs = str(Path(sys.prefix) / "bin")
    return os.pathsep.join([base, *(part for part in os.environ.get("PATH", "").split(os.pathsep) if part != programs)])


def _read_run(block: str, log: Path, number: int) -> Ran:
    begin = float((log / f"{number}.begin").read_text("utf-8"))
    status, end = (log / f"{number}.end").read_text("utf-8").split()
    output = (log / f"{number}.out").read_text("utf-8", "replace")
    return Ran(command=block, status=int(status), seconds=float(end) - begin, output=output)


def fill_measurements(text: str, ran: list[Ran]) -> str:
    """The page's source with the measurements."""
    seconds = round(sum(step.seconds for step in ran))
    recorded = [step for step in ran if step.command.startswith(("latebind new", *RECORDED))]
    size = sum(len(step.output.encode()) for step in recorded)
    own_seconds = round(sum(step.seconds for step in recorded))
    line = (
        f"The {len(ran)} commands take {seconds} seconds on {os.cpu_count()} processors, downloads included. `new`,\n"
        f"`pack`, `audit` and `verify` take {own_seconds} of these seconds, and print {size} bytes."
    )
    return _MEASURED.sub(lambda match: f"{match[1]}{line}\n{match[2]}", text)


def record_readme(text: str, ran: list[Ran]) -> str:
    """The README with the output of the last commands: without progress, with the first test cases."""
    lines = []
    for step in ran:
        if step.command.strip() in RECORDED:
            shown = [line.rstrip() for line in step.output.strip("\n").splitlines()]
            results = [line for line in shown if line.startswith(("dist/", "passed "))]
            others = [line for line in shown if line not in results and not _PROGRESS.match(line)]
            cut = [*results[:_SHOWN], "…"] if len(results) > _SHOWN else results
            tidy = [re.sub(r"(?<=\S) {3,}", "  ", line) for line in (*cut, *others)]
            lines += [f"$ {step.command.strip()}", *tidy, ""]
    block = "\n".join(["```text", *lines[:-1], "```"])
    return _RECORDING.sub(lambda match: f"{match[1]}\n{block}\n\n{match[3]}", text)


def find_recording(text: str) -> str:
    """The session that the README shows. Raises SystemExit if it has none."""
    recorded = _RECORDING.search(text)
    if recorded is None:
        raise SystemExit("README.md has no recorded session: python -m ci.tutorial --write")
    return recorded[2].strip().removeprefix("```text\n").removesuffix("\n```")


def main(argv: list[str] | None = None) -> int:
    """Run the tutorial, tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write number and seconds into docs/tutorial.md")
    arguments = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="tutorial-") as name:
        folder = Path(name)
        blocks = commands(PAGE.read_text("utf-8"))
        started = time.monotonic()
        ran = follow(blocks, folder)
    for step in ran:
        print(f"{'ok' if step.status == 0 else 'FAILED'}  {step.seconds:6.1f} s  {step.command.splitlines()[0]}")
    print(f"{len(ran)} of {len(blocks)} commands, {time.monotonic() - started:.0f} s")
    if not ran or len(ran) < len(blocks) or any(step.status for step in ran):
        print(ran[-1].output if ran else "no command ended")
        return 1
    print(ran[-1].output, ran[-2].output, sep="\n")
    if arguments.write:
        write_text(PAGE, fill_measurements(PAGE.read_text("utf-8"), ran))
        write_text(README, record_readme(README.read_text("utf-8"), ran))
    return 0


if __name__ == "__main__":
    sys.exit(main())

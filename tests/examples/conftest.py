"""What the examples are tried with: latebind from its own wheel in an environment of its own, not the checkout."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support import needs

CASES = ("works", "absent", "corrupt", "path", "environment-wrong")


def run(*arguments, where=None, allowed=(0,), **environment):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("LATEBIND", "PYTHON", "VIRTUAL_ENV"))}
    command = [str(argument) for argument in arguments]
    ended = subprocess.run(
        command, cwd=where, env={**env, "NO_COLOR": "1", **environment}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode in allowed, ended.stdout[-4000:] + ended.stderr[-4000:]
    return ended


def environment_with_latebind(folder, python=sys.executable, extra=()):
    """A fresh environment with latebind's wheel; the path of its `latebind`."""
    for source in (ROOT, ROOT / "loadcheck"):
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder / "links", source)
    (wheel,) = (folder / "links").glob("latebind-*.whl")
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or "uv"
    run(uv, "venv", "-q", "--python", python, folder / "venv")
    target = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install = (uv, "pip", "install", "-q", "--find-links", folder / "links", "--python", target)
    installed = run(*install, f"{wheel}[native,verify]", *extra, allowed=(0, 1, 2))
    if installed.returncode:
        pytest.skip(f"not run: the package index cannot be reached: {installed.stderr[-200:]}")
    return target.with_name("latebind")


@pytest.fixture(scope="session")
def installed_latebind(tmp_path_factory):
    """`latebind` of a fresh environment."""
    return environment_with_latebind(tmp_path_factory.mktemp("installed"))


@pytest.fixture
def example(tmp_path):
    """A copy of an example, as a user has it."""

    def copy(name):
        return Path(shutil.copytree(ROOT / "examples" / name, tmp_path / Path(name).name))

    return copy


@pytest.fixture(scope="session")
def official_header(tmp_path_factory, request):
    """ONNX Runtime's official header, in a folder with the others."""
    return needs.official_header(tmp_path_factory.mktemp("official"), getattr(request, "param", "1.21"))


def select_cases(*patterns):
    """The options of `verify` for test cases that match any of the patterns."""
    return [argument for pattern in patterns for argument in ("-k", pattern)]


def packed_audited_verified(latebind, project, cases=CASES):
    """Build, pack, audit and verify, each green; what verify printed."""
    if not (project / "stage").exists():  # else it was imported
        run(latebind, "-C", project, "build")
    run(latebind, "-C", project, "pack")
    assert " 0 errors, 0 warnings" in run(latebind, "-C", project, "audit").stdout
    shown = run(latebind, "-v", "-C", project, "verify", *select_cases(*cases)).stdout
    summary = next(line for line in shown.splitlines() if " passed, " in line)
    assert " passed, 0 failed, 0 not run" in summary, shown
    assert int(summary.partition(" ")[0]) >= len(cases)
    return shown

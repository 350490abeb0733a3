"""noxfile.py on bare machines: what it makes, what it says when it cannot."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from ci import bootstrap
from tests.conftest import ROOT
from tests.support.running import run_checked

HEADER = '# /// script\n# requires-python = ">=3.10"\n# dependencies = ["nox[uv]>=1", "other>=2"]\n# ///\n'


def test_the_header_is_the_only_list_of_requirements():
    assert bootstrap.read_requirements(HEADER) == ["nox[uv]>=1", "other>=2"]
    assert bootstrap.read_requirements((ROOT / "noxfile.py").read_text("utf-8"))[0].startswith("nox")


def bare_path(folder, *programs):
    """A folder for PATH that holds these programs and nothing else."""
    folder.mkdir()
    for name in programs:
        path = shutil.which(name)
        if path:
            (folder / name).symlink_to(path)
    return str(folder)


@pytest.mark.builds
def test_a_failed_installation_shows_why_and_the_next_run_tries_again(tmp_path, capfd):
    noxfile = tmp_path / "noxfile.py"
    noxfile.write_text(HEADER.replace("nox[uv]>=1", "no-such-distribution-of-anybody>=1"), encoding="utf-8")
    for _ in range(2):
        assert bootstrap.run_nox(str(noxfile), []) == 2
        printed = capfd.readouterr().err
        assert "No matching distribution found for no-such-distribution-of-anybody" in printed
        assert "noxfile.py: nox could not be installed: status 1 of " in printed


def test_an_old_python_is_refused(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(bootstrap, "MINIMUM", (4, 0))
    assert bootstrap.run_nox(str(tmp_path / "noxfile.py"), []) == 2
    assert re.fullmatch(r"latebind needs Python 4\.0 or newer, this is 3\.\d+\.\d+\.\n", capfd.readouterr().err)


@pytest.mark.slow
def test_a_machine_with_python_git_and_coreutils_does_the_main_job(tmp_path):
    """The README's first command on PATH with nothing but Python, git and the commands of coreutils.

    `.ci/run` verifies with every runtime and in every way; here each consumer of ONNX Runtime, and the wheels with the
    oldest one, are enough.
    """
    clone = tmp_path / "clone"
    git = shutil.which("git")
    run_checked(git, "clone", "--quiet", "--no-hardlinks", ROOT, clone)
    coreutils = ("cat", "cp", "ls", "mkdir", "mv", "rm", "sh", "env", "uname", "ln", "chmod", "sleep", "head", "tail")
    path = bare_path(tmp_path / "bin", "git", *coreutils)
    (tmp_path / "bin" / "python3").symlink_to(getattr(sys, "_base_executable", sys.executable))
    environment = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "UV_", "SSL_"))}
    # What was downloaded and compiled once is used here, too: this is about programs that are missing, not about time.
    environment["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    sdk = ROOT / ".latebind" / "dotnet"
    if (sdk / "dotnet" / "dotnet").exists():
        (clone / ".latebind").mkdir()
        (clone / ".latebind" / "dotnet").symlink_to(sdk)
    env = {**environment, "PATH": path, "HOME": str(tmp_path / "home"), "LANG": "C.UTF-8"}
    command = [str(tmp_path / "bin" / "python3"), "noxfile.py", "-s", "latenn", "--", "verify"]
    cases = ("wheel/*/onnxruntime-*/works", "*/absent")

    printed = run_checked(*command, *(f"-k{case}" for case in cases), cwd=clone, env=env, timeout=1200)

    names = {path.name for path in (clone / "dist").iterdir()}
    assert {"latenn-0.1.0-py3-none-manylinux_2_28_x86_64.whl", "Latenn.OnnxRuntime.0.1.0.nupkg"} <= names
    assert re.search(r"\d+ passed, 0 failed, \d+ not run", printed)
    if sys.version_info < (3, 13):  # the oldest runtime has wheels for this Python
        assert "no-distribution" not in printed

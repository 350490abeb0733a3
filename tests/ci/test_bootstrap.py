"""noxfile.py on bare machines: what it makes, what it says when it cannot."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from ci import bootstrap
from tests.conftest import ROOT
from tests.programs import run_checked, run_program

HEADER = '# /// script\n# requires-python = ">=3.10"\n# dependencies = ["nox>=1", "uv>=2"]\n# ///\n'


def test_the_header_is_the_only_list_of_requirements():
    assert bootstrap.requirements(HEADER) == ["nox>=1", "uv>=2"]
    assert bootstrap.requirements((ROOT / "noxfile.py").read_text("utf-8"))[0].startswith("nox")


def bare_path(folder, *programs):
    """A folder for PATH that holds these programs and nothing else."""
    folder.mkdir()
    for name in programs:
        path = shutil.which(name)
        if path:
            (folder / name).symlink_to(path)
    return str(folder)


def test_without_any_way_to_make_environments_it_says_what_to_install(tmp_path):
    code = (
        "import sys, importlib.util as u; old = u.find_spec;"
        "u.find_spec = lambda name, *a: None if name in ('ensurepip', 'virtualenv') else old(name, *a);"
        "import importlib.metadata as m; m.version = lambda name: '22.2.1' if name == 'pip' else None;"
        f"sys.path.insert(0, {str(ROOT)!r}); from ci import bootstrap; import pathlib;"
        f"sys.exit(bootstrap.main(pathlib.Path({str(tmp_path)!r}), []))"
    )
    (tmp_path / "noxfile.py").write_text(HEADER, encoding="utf-8")
    env = {"PATH": bare_path(tmp_path / "bin"), "HOME": str(tmp_path)}
    done = run_program(sys.executable, "-c", code, env=env)
    assert done.returncode == 2
    assert re.search(r"apt install python3\.\d+-venv", done.stderr)
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / ".nox").glob(".bootstrap*"))


def test_a_failed_installation_leaves_nothing_behind_and_shows_why(tmp_path, capfd):
    text = HEADER.replace("nox>=1", "no-such-distribution-of-anybody>=1")
    (tmp_path / "noxfile.py").write_text(text, encoding="utf-8")
    assert bootstrap.main(tmp_path, []) == 2
    assert "no-such-distribution-of-anybody" in capfd.readouterr().err
    assert not list((tmp_path / ".nox").glob(".bootstrap*"))


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
    command = [str(tmp_path / "bin" / "python3"), "noxfile.py", "-s"]

    for arguments in (
        ["build", "package", "audit"],
        ["verify", "--", "-k", "wheel/*/onnxruntime-*/works", "-k", "*/environment", "-k", "*/absent"],
    ):
        printed = run_checked(*command, *arguments, cwd=clone, env=env, timeout=1200)

    names = {path.name for path in (clone / "dist").iterdir()}
    assert {"latenn-0.1.0-py3-none-manylinux_2_28_x86_64.whl", "Latenn.OnnxRuntime.0.1.0.nupkg"} <= names
    assert re.search(r"\d+ passed, 0 failed, \d+ not run", printed)
    if sys.version_info < (3, 13):  # the oldest runtime has wheels for this Python
        assert "no-distribution" not in printed

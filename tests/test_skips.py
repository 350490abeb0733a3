"""With LATEBIND_STRICT_SKIPS=1 a skip fails the run unless tests/skips.toml expects it."""

import os
import shutil
import sys
from fnmatch import fnmatch

import pytest

from tests.conftest import ROOT
from tests.plugin import unexpected_skips
from tests.programs import run_program

FOLDERS = ("tests", "latenn/tests")
TEST = """import pytest
def test_none():
    pass
@pytest.mark.skipif(True, reason={reason!r})
def test_one():
    pass
"""


@pytest.mark.parametrize(
    ("reason", "status", "workers"),
    [("the machine is lazy", 1, "0"), ("the machine is lazy", 1, "1"), ("not run: PyTorch is not installed", 0, "1")],
)
def test_an_unexpected_skip_fails_the_run(tmp_path, reason, status, workers):
    folder = tmp_path / "tests"
    folder.mkdir()
    shutil.copy(ROOT / "tests" / "plugin.py", folder / "conftest.py")
    for name in ("skips.toml", "slow.txt"):
        shutil.copy(ROOT / "tests" / name, folder)
    (folder / "test_it.py").write_text(TEST.format(reason=reason), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-n", workers, "--rootdir", tmp_path, folder]
    env = {**os.environ, "LATEBIND_STRICT_SKIPS": "1", "PYTHONPATH": str(ROOT)}
    ended = run_program(*command, env=env, cwd=tmp_path)
    assert ended.returncode == status, ended.stdout + ended.stderr
    assert ("not in tests/skips.toml" in ended.stderr) == bool(status)


def test_a_reason_must_match_as_a_whole():
    table = ROOT / "tests" / "skips.toml"
    assert unexpected_skips([("a", "not run: PyTorch is not installed, and more")], table)


def test_every_folder_of_tests_is_collected(pytestconfig):
    """pytest's own list of folders to pass over has names that folders of tests may have, such as build."""
    passed_over = pytestconfig.getini("norecursedirs")
    modules = [path.relative_to(ROOT) for folder in FOLDERS for path in (ROOT / folder).rglob("test_*.py")]
    folders = {part for path in modules for part in path.parts[:-1]}
    assert "build" in folders
    assert not [name for name in folders if any(fnmatch(name, pattern) for pattern in passed_over)]


def test_no_module_is_in_both_folders(pytestconfig):
    """They are one package, `tests`, in which one would hide the other."""
    assert pytestconfig.getini("testpaths") == list(FOLDERS)
    ours, latenns = ({path.relative_to(ROOT / folder) for path in (ROOT / folder).rglob("*.py")} for folder in FOLDERS)
    assert ours
    assert latenns
    assert ours & latenns == set()

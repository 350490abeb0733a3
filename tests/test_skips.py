"""With LATEBIND_STRICT_SKIPS=1 a skip fails the run unless tests/skips.toml expects it."""

import os
import shutil
import sys
from fnmatch import fnmatch

import pytest

from tests.conftest import ROOT, unexpected_skips
from tests.programs import run_program

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
    for name in ("conftest.py", "skips.toml", "slow.txt"):
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
    folders = {part for path in (ROOT / "tests").rglob("test_*.py") for part in path.relative_to(ROOT).parts[:-1]}
    assert "build" in folders
    assert not [name for name in folders if any(fnmatch(name, pattern) for pattern in passed_over)]

"""With LATEBIND_STRICT_SKIPS=1 a skip fails the run unless tests/skips.toml expects it."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT, unexpected_skips

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
    ended = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == status, ended.stdout + ended.stderr
    assert ("not in tests/skips.toml" in ended.stderr) == bool(status)


def test_a_reason_must_match_as_a_whole():
    table = ROOT / "tests" / "skips.toml"
    assert unexpected_skips([("a", "not run: PyTorch is not installed, and more")], table)

"""Failures that pass: the message names the true reason, and a program that only calls functions recovers."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loader.situations import place

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: the filters of system calls are Linux's")
FAILURES = {
    "too many files of the process": ("files", 3, "too many open files in this process"),
    "EMFILE": ("open", errno.EMFILE, "too many open files in this process"),
    "ENFILE": ("open", errno.ENFILE, "too many open files on this machine"),
    "ENOMEM": ("open", errno.ENOMEM, "out of memory"),
    "EINTR": ("open", errno.EINTR, "a signal interrupted it"),
    "EIO": ("open", errno.EIO, "the disk or the file server reports an error"),
    "ESTALE": ("open", errno.ESTALE, "the file server no longer knows it"),
    "ETIMEDOUT": ("open", errno.ETIMEDOUT, "the file server does not answer"),
    "too little memory": ("memory", 0, "out of memory"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_what_passes_is_tried_again(plain, tmp_path: Path, name):
    how, number, reason = FAILURES[name]
    (tmp_path / "libmine.so").write_bytes((plain.folder / "libmine.so").read_bytes())
    place(plain, "good", tmp_path)
    command = [plain.folder / "fail", tmp_path / "libmine.so", how, str(number)]
    done = subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 77:
        pytest.skip("not run: this machine lets no program filter its system calls")
    first, *_, later = done.stdout.splitlines()
    assert first.startswith("ONNX Runtime cannot be looked for at the moment: ")
    assert reason in first
    assert "deleted" not in first
    assert first.endswith("The next call tries again.")
    assert later == "1.25.3"


def test_what_lasts_is_not_tried_again(plain, tmp_path: Path):
    """Permission to read is refused: the next call of a function costs no search."""
    (tmp_path / "libmine.so").write_bytes((plain.folder / "libmine.so").read_bytes())
    place(plain, "good", tmp_path)
    command = [plain.folder / "fail", tmp_path / "libmine.so", "open", str(errno.EACCES)]
    done = subprocess.run(command, cwd="/", env={}, capture_output=True, text=True, timeout=60, check=False)
    first, *_, later = done.stdout.splitlines()
    assert "permission denied" in first
    assert later == first

"""Runs programs for tests, and judges how they ended."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def run_program(*command: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """How a program ended, and what it printed."""
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)


def run_checked(*command: object, **options: Any) -> str:
    """What a program printed that must succeed."""
    return assert_success(run_program(*command, **options))


def make_environment(folder: Path, requirement: str) -> Path:
    """The Python of a new environment with another tool; the test is skipped where it cannot be installed."""
    run_checked(sys.executable, "-m", "venv", folder)
    python = folder / "bin/python"
    done = run_program(python, "-m", "pip", "install", "--quiet", requirement)
    if done.returncode:
        pytest.skip(f"not run: {requirement} cannot be installed: {done.stderr.strip()[-200:]}")
    return python


def assert_success(done: subprocess.CompletedProcess[str]) -> str:
    """What was printed; hold that nothing went wrong."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def assert_refused(done: subprocess.CompletedProcess[str], *says: str) -> None:
    """Hold that a command refused its arguments, with errors that say all of this."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert "\nerror: " in f"\n{done.stderr}", done.stderr
    for text in says:
        assert text in done.stderr

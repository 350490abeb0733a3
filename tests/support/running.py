"""Runs latebind and other programs for its tests, and judges how they ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from latebind.errors import NotRun
from tests.support.programs import assert_refused, assert_success, run_checked, run_program

__all__ = ["CLI", "assert_refused", "assert_success", "make_environment", "not_run", "run_checked", "run_program"]

CLI = (sys.executable, "-m", "latebind.cli")
"""The words that start latebind."""


def make_environment(folder: Path, *requirements: str) -> Path:
    """The interpreter of a new environment, or a skip where the index has not everything."""
    for arguments in (["venv", folder], ["pip", "install", "--quiet", "--python", folder, *requirements]):
        done = run_program(sys.executable, "-m", "uv", *arguments)
        if done.returncode:
            pytest.skip(f"not run: {requirements} cannot be installed: {done.stderr.strip()[-200:]}")
    return folder / "bin/python"


@contextmanager
def not_run(reason: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[NotRun]]:
    """Hold that a step is not run, for one of the known reasons and with these words."""
    with pytest.raises(NotRun, match=match) as caught:
        yield caught
    assert caught.value.reason == reason

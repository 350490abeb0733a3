"""Runs programs for tests, and judges how they ended."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.processes import assert_refused, assert_success, run_checked, run_program

from latebind.errors import NotRun

__all__ = ["CLI", "assert_refused", "assert_success", "not_run", "run_checked", "run_program"]

CLI = (sys.executable, "-m", "latebind.cli")
"""The words that start latebind."""


@contextmanager
def not_run(reason: str, match: str | None = None) -> Iterator[pytest.ExceptionInfo[NotRun]]:
    """Hold that a step is not run, for one of the known reasons and with these words."""
    with pytest.raises(NotRun, match=match) as caught:
        yield caught
    assert caught.value.reason == reason

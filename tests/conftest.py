"""Fixtures that more than one part of the tests needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client import write_client

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def tiny(tmp_path):
    """A fresh copy of the small project."""
    return write_client(tmp_path / "tiny")


@pytest.fixture
def latebind():
    """The command line as a user runs it: in a process of its own."""

    def run(*arguments, env=None, timeout=300):
        command = [sys.executable, "-m", "latebind.cli", *map(str, arguments)]
        environment = {**os.environ, "NO_COLOR": "1", **(env or {})}
        captured = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        return subprocess.run(command, env=environment, timeout=timeout, check=False, **captured)

    return run

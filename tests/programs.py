"""Runs programs for tests."""

from __future__ import annotations

import subprocess
import sys

CLI = (sys.executable, "-m", "latebind.cli")
"""The words that start latebind."""


def ran(*command: object, **options: object) -> subprocess.CompletedProcess[str]:
    """How a program ended, and what it printed."""
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **options)


def did(*command: object, **options: object) -> str:
    """What a program printed that must succeed."""
    done = ran(*command, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout

"""Fixtures that more than one part of latebind's tests needs. plugin.py has those that latenn's need, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.client import write_client

ROOT = Path(__file__).resolve().parent.parent


def alive(pid):
    """Whether a process is there and no zombie."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text("ascii")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.fixture
def tiny(tmp_path):
    """A fresh copy of the small project."""
    return write_client(tmp_path / "tiny")

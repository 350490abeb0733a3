"""Fixtures that the tests of several ecosystems need."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def make_open_folder():
    """A folder that every user may enter, which pytest's own are not."""
    with tempfile.TemporaryDirectory(prefix="latebind-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def top():
    with make_open_folder() as folder:
        yield folder

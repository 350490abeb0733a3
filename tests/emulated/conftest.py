"""Machines of other targets, as `python -m ci.machines` makes them."""

from __future__ import annotations

import pytest

from tests.support.machine import environment, machine

__all__ = ["environment", "machine"]


@pytest.fixture(autouse=True)
def utf8(monkeypatch):
    """What is printed there can be read here: Windows' Python writes a code page into pipes, but for this."""
    monkeypatch.setenv("PYTHONUTF8", "1")

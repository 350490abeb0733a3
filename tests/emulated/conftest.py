"""Machines of other targets, as `python -m machines` makes them."""

from __future__ import annotations

import fcntl

import pytest

from latebind.verify.cases.machine import machines
from machines import table
from tests.native.emulated import cache


@pytest.fixture(autouse=True)
def utf8(monkeypatch):
    """What is printed there can be read here: Windows' Python writes a code page into pipes, but for this."""
    monkeypatch.setenv("PYTHONUTF8", "1")


@pytest.fixture(scope="module", params=[machine.name for machine in table.MACHINES if machine.has_python])
def machine(request):
    dest = cache() / "machines"
    dest.mkdir(exist_ok=True)
    with (dest / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        message = table.make(dest, request.param)[request.param]
    if message.startswith("not available"):
        pytest.skip(f"not run: {message}")
    return machines(dest)[request.param]

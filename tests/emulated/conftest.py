"""Machines of other targets, as `python ci/machines.py` makes them."""

from __future__ import annotations

import fcntl

import machines as maker
import pytest
from latebind.verify.plan.machine import machines

from tests.native.emulated import cache


@pytest.fixture(autouse=True)
def utf8(monkeypatch):
    """What is printed there can be read here: Windows' Python writes a code page into pipes, but for this."""
    monkeypatch.setenv("PYTHONUTF8", "1")


@pytest.fixture(scope="module", params=list(maker.MAKERS))
def machine(request):
    dest = cache() / "machines"
    dest.mkdir(exist_ok=True)
    with (dest / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        message = maker.make(dest, request.param)[request.param]
    if message.startswith("not available"):
        pytest.skip(f"not run: {message}")
    return machines(dest)[request.param]

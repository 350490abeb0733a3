"""The machines of other targets that have Python, as `python -m ci.machines` makes them; and environments on them."""

from __future__ import annotations

import fcntl

import pytest

from ci.machines import table
from latebind.verify.run.installers import foreign_installer, installer
from latebind.verify.run.machine import machines
from tests.support.emulated import cache


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


@pytest.fixture
def environment(machine, tmp_path):
    """An environment on the machine."""
    folder = tmp_path / "an environment ä"
    foreign_installer(machine, installer(tmp_path)).create(folder, machine.python, tmp_path / "log")
    return folder

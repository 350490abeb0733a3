"""The protocol of binding as a model that spin checks in every order; three faults show that it would see one."""

import shutil
from pathlib import Path

import pytest

from ci.machines import make_once
from ci.machines.debian import unpack
from tests.support.building import LOADER_TESTS as HERE
from tests.support.building import needed_compiler
from tests.support.needs import available
from tests.support.running import run_checked

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def spin(kept_builds):
    """The model checker: this machine's, or Debian's."""
    if program := shutil.which("spin"):
        return program
    root = available(make_once, kept_builds / "spin", lambda folder: unpack(["spin"], folder, suite="bookworm"))
    return Path(root) / "usr/bin/spin"


@pytest.mark.parametrize(
    ("fault", "answer"),
    [
        ("", "errors: 0"),
        ("-DLOCKED", "invalid end state"),  # a lock that is held while the system's loader works
        ("-DCOUNTED", "invalid end state"),  # a fork waits for a thread that left its search
        ("-DEARLY", "assertion violated (filled!=0)"),  # calls arrive before what they need
    ],
)
def test_no_order_of_steps_hangs_or_reaches_what_is_not_there(spin, tmp_path, fault, answer):
    run_checked(spin, *([fault] if fault else []), "-a", HERE / "binding.pml", cwd=tmp_path)
    run_checked(needed_compiler(), "-O1", "-DSAFETY", "-o", "pan", "pan.c", cwd=tmp_path)
    printed = run_checked(tmp_path / "pan", "-m100000", cwd=tmp_path)
    assert answer in printed
    assert ("errors: 0" in printed) == (not fault)

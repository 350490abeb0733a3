"""latenn's wheels on machines of other targets, with the ONNX Runtime of the index."""

from __future__ import annotations

import sys
from pathlib import Path

import models
import pytest

from latebind.errors import NotRun
from latebind.verify.run.installers import foreign_installer, installer
from tests.support.emulated import ORT_VERSIONS
from tests.support.latenn import LATENN
from tests.support.machine import environment, machine
from tests.support.programs import run_checked

__all__ = ["environment", "machine"]
pytestmark = [pytest.mark.emulated, pytest.mark.slow]


@pytest.fixture(scope="module")
def wheels(machine, tmp_path_factory):  # a fixture
    """latenn's wheels for the machine, by zig."""
    workdir = tmp_path_factory.mktemp("latenn")
    command = [sys.executable, "-m", "latebind.cli", "-C", LATENN, "--workdir", workdir, "pack"]
    run_checked(*command, "--target", machine.rid, timeout=1800)
    return sorted((workdir / "dist").glob("*.whl"))


@pytest.fixture
def installed(machine, environment, wheels, tmp_path):  # fixtures
    """An environment with latenn, NumPy and a recent ONNX Runtime."""
    requirements = [*map(str, wheels), f"onnxruntime=={ORT_VERSIONS[-1]}", "numpy"]
    try:
        foreign_installer(machine, installer(tmp_path)).install(environment, requirements, log=tmp_path / "log")
    except NotRun as reason:
        pytest.skip(f"not run: {reason.reason}")
    return machine.python_of(environment)


def test_it_computes_there_and_runs_are_builtins(machine, installed, tmp_path):  # a fixture
    printed = run_checked(*machine.argv(installed, "-I", "-X", "utf8", LATENN / "verify/wheel.py"), cwd=tmp_path)
    assert f"ONNX Runtime {ORT_VERSIONS[-1]} is bound from " in printed
    assert "[2. 4. 6.]" in printed
    folder = models.write_portable(tmp_path / "models")
    program = Path(__file__).parent / "accelerated.py"
    assert "well" in run_checked(*machine.argv(installed, "-I", program, machine.path(folder), "in use")).split()

"""A run as a builtin: on every CPython here, and by ctypes where that is asked for or cannot be otherwise."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import models
import pytest
from python.running import python

from latebind.compilers.interpreters import interpreters
from tests.support.building import runtime_library
from tests.support.programs import run_checked, run_program

HERE = Path(__file__).parent
PROGRAM = HERE / "accelerated.py"
MINORS = ("3.10", "3.11", "3.12", "3.13", "3.14")


@pytest.fixture(scope="module")
def portable(tmp_path_factory):
    return models.write_portable(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize(("value", "expected"), [("1", "in use"), ("0", "not in use: it is turned off by LATENN_ACC")])
def test_both_ways_do_the_same(latenn_site, portable, value, expected):
    done = python(latenn_site, PROGRAM, portable, expected, LATENN_ACCELERATOR=value)
    assert done.stdout == "well\n", done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("minor", MINORS)
def test_every_cpython_runs_builtins(latenn_site, portable, minor, tmp_path):
    pythons = interpreters([minor])
    if not pythons:
        pytest.skip(f"not run: there is no CPython {minor} here: uv python install {minor}")
    program, packages = pythons[-1].path, tmp_path / "packages"
    command = ["-m", "uv", "pip", "install", "--quiet", "--python", program, "--target", packages, "numpy"]
    run_checked(sys.executable, *command)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (latenn_site, packages)))}
    command = [program, "-W", "error", PROGRAM, portable, "in use", runtime_library()]
    done = run_program(*command, env=env)
    assert done.stdout == "well\n", done.stderr
    if minor in ("3.12", "3.13", "3.14"):
        command = [program, "-W", "ignore", HERE / "subinterpreted.py", portable / "small.onnx", runtime_library()]
        done = run_program(*command, env=env, timeout=60)
        inner, after = done.stdout.splitlines()[0::2], done.stdout.splitlines()[1::2]
        assert all(line == "refused True" or line.startswith("computed 6.0") for line in inner), (
            done.stdout + done.stderr
        )
        assert after == ["failed None 6.0"] * 2

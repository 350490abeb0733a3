"""The Mono for tests: the one on PATH when it is whole, else one of Debian's packages, else a reason."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from latebind.compilers import mono
from tests.support.needs import mono_folder
from tests.support.running import run_program

ROOT = Path(__file__).resolve().parents[3]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: Debian's packages are for Linux")


def call(dest, path):
    env = {**os.environ, "PATH": str(path)}
    return run_program(sys.executable, "-m", "ci.machines", dest, "mono", cwd=ROOT, env=env)


@pytest.mark.slow
def test_it_runs_from_where_it_was_unpacked_and_has_the_reference_assemblies():
    installation = mono.find({"PATH": str(mono_folder())})

    assert mono.version(installation, os.environ).startswith("Mono JIT compiler version ")
    assert (installation.references / "Facades" / "netstandard.dll").is_file()


def test_a_whole_one_on_the_path_is_taken_and_nothing_is_made(tmp_path):
    ended = call(tmp_path / "made", mono_folder())

    assert (ended.returncode, ended.stdout.strip()) == (0, f"mono         made: mono on PATH, in {mono_folder()}")
    assert list((tmp_path / "made").iterdir()) == []


def test_without_debians_tools_it_says_why(tmp_path):
    ended = call(tmp_path / "made", tmp_path)

    assert ended.returncode == 0
    assert "not available: apt-get is missing" in ended.stdout
    assert [path.name for path in (tmp_path / "made").iterdir()] == [".mono.lock"]

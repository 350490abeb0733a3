"""latenn for .NET over a synthetic core: the checks of latenn/dotnet/Checks."""

from __future__ import annotations

import sys
import unicodedata

import msgspec
import pytest

from testing.building import ROOT, needed_compiler
from testing.latenn import LATENN
from testing.programs import run_checked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the core is built for Linux"),
]
CHECKS = LATENN / "dotnet" / "Checks"


def list_hidden():
    """The loader's table of characters that are not shown, without "\\n" and what Unicode has not assigned there."""
    rows = msgspec.toml.decode((ROOT / "loader" / "tables" / "hidden.toml").read_bytes())["hidden"]
    codes = [code for row in rows for code in range(row["first"], row["last"] + 1)]
    return [code for code in codes if code != ord("\n") and unicodedata.category(chr(code)) in {"Cc", "Cf", "Zl", "Zp"}]


@pytest.fixture
def core(tmp_path):
    """A core that returns what it gets."""
    options = ["-shared", "-fPIC", f"-I{LATENN / 'native' / 'include'}", "-o", tmp_path / "liblatenn_core.so"]
    run_checked(needed_compiler(), *options, CHECKS / "echo_core.c")
    return (tmp_path / "liblatenn_core.so").read_bytes()


@pytest.mark.parametrize("newest", ["netstandard2.0", "netstandard2.1"])
def test_the_binding_holds_its_word_over_a_synthetic_core(build_program, repack, core, newest):
    """Types that no runtime here has, threads under a moving heap, refusals."""
    memory = str(newest == "netstandard2.1").lower()

    def change(name, data):
        if name.endswith("linux-x64/native/liblatenn_core.so"):
            return core
        return None if newest == "netstandard2.0" and "/netstandard2.1/" in name else data

    package = repack("Latenn.0.1.0.nupkg", change)
    argv, environment = build_program(CHECKS, [package], f"LatennHasMemory={memory}")
    environment["HIDDEN"] = " ".join(f"{code:x}" for code in list_hidden())

    lines = run_checked(*argv, env=environment).splitlines()

    assert len(lines) >= 20
    assert ("passed MemoryIsPinnedForTheRunAlone" in lines) == (newest == "netstandard2.1")
    assert all(line.startswith("passed ") for line in lines), lines

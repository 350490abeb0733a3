"""latenn for .NET over a synthetic core: the checks of latenn/dotnet/Checks."""

from __future__ import annotations

import sys

import pytest

from latebind.compilers import dotnet
from latebind.config import file as configfile
from latebind.ecosystems.nuget.dotnet_project import build_consumer
from latebind.ecosystems.nuget.pack import pack_nupkgs
from latebind.system.run import run
from tests.dotnet_support import LATENN, consumer, dotnet_environment, echo_core, make_stage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: the core is built for Linux")


@pytest.mark.slow
@pytest.mark.parametrize("frameworks", [["netstandard2.0"], ["netstandard2.0", "netstandard2.1"]])
def test_the_binding_holds_its_word_over_a_synthetic_core(tmp_path, managed_build, frameworks):
    """Types that no runtime here has, threads under a moving heap, refusals: latenn/dotnet/Checks."""
    managed_build = [assembly for assembly in managed_build if assembly.framework in frameworks]
    memory = str("netstandard2.1" in frameworks).lower()
    checks = LATENN / "dotnet" / "Checks"
    stage = make_stage(tmp_path / "stage", {"core": [echo_core(tmp_path)]})
    config = configfile.load(LATENN / "latebind.toml")
    package = pack_nupkgs(config, "core", [stage], tmp_path / "dist", managed=managed_build)[0].path
    environment = dotnet_environment()

    built = build_consumer(consumer([package], project=checks, properties={"LatennHasMemory": memory}), tmp_path / "w")
    ended = run(built.argv, env=dotnet.private(environment, tmp_path / "w" / "home"), check=False)

    lines = [line for line in ended.output.splitlines() if line]
    assert ended.returncode == 0, ended.output
    assert len(lines) >= 20
    assert ("passed MemoryIsPinnedForTheRunAlone" in lines) == ("netstandard2.1" in frameworks)
    assert all(line.startswith("passed ") for line in lines), ended.output

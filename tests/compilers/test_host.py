"""Compiled objects are kept by ccache, Debian's own, where it is on PATH."""

import os
import shutil

import pytest

from ci.machines import make_once
from ci.machines.debian import unpack
from latebind.compilers import host
from latebind.compilers.choose import toolchain
from latebind.compilers.host import launchers
from latebind.tables.targets import host_rid, target
from tests.support.client import edit, stage_project, write_portable
from tests.support.needs import available
from tests.support.running import run_checked

PACKAGES = ["ccache", "libhiredis0.14", "libzstd1"]


@pytest.fixture
def ccache(kept_builds, tmp_path, monkeypatch):
    """Ccache in front of PATH, with a cache of its own."""
    root = available(make_once, kept_builds / "ccache", lambda folder: unpack(PACKAGES, folder, suite="bookworm"))
    program = tmp_path / "bin" / "ccache"
    program.parent.mkdir()
    libraries = f'LD_LIBRARY_PATH="{root}/usr/lib/x86_64-linux-gnu"'
    program.write_text(f'#!/bin/sh\n{libraries} exec "{root}/usr/bin/ccache" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("CCACHE_DIR", str(tmp_path / "cache"))
    return program


def count(program, name):
    lines = run_checked(program, "--print-stats").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith(name))


@pytest.mark.slow
@pytest.mark.parametrize(("rid", "name"), [("linux-arm64", "zig"), ("win-x64", "zig"), ("linux-x64", "host")])
def test_a_fresh_tree_takes_its_objects_from_ccache(ccache, tmp_path, rid, name):
    root = write_portable(tmp_path / "tiny", [rid])
    edit(root / "latebind.toml", "[targets]", f'[targets.{rid}]\ntoolchain = "{name}"\n\n[targets]')
    packed = []
    for _ in range(2):
        staged = stage_project(root, rid)
        packed.append(staged.libraries("tiny")[0].read_bytes())
        hits, misses = count(ccache, "direct_cache_hit"), count(ccache, "cache_miss")
        shutil.rmtree(root / "build")
        shutil.rmtree(root / "stage")
    assert packed[0] == packed[1]
    assert hits == misses > 0


def test_launchers_are_those_of_the_machine_and_of_latebind(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert launchers() == []
    assert launchers(["python", "options.py"])[0] == "-DCMAKE_C_COMPILER_LAUNCHER=python;options.py"
    (tmp_path / "ccache").touch(0o755)
    assert launchers(["python"]) == [
        f"-DCMAKE_{language}_COMPILER_LAUNCHER=python;{tmp_path.as_posix()}/ccache" for language in ("C", "CXX")
    ]


def test_a_launcher_that_the_user_chose_stays(monkeypatch, tmp_path):
    monkeypatch.setattr(host, "launchers", lambda: ["taken"])
    properties = target(host_rid())
    assert "taken" in toolchain("host", properties).configure(properties, "2.28", tmp_path)
    monkeypatch.setenv("CMAKE_C_COMPILER_LAUNCHER", "sccache")
    assert "taken" not in toolchain("host", properties).configure(properties, "2.28", tmp_path)

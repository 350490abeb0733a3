"""The extras of latenn's backends: each selects a distribution that exists and holds the runtime's library."""

from __future__ import annotations

import contextlib
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest
from packaging.version import Version

from latebind.backend.targets import targets
from latebind.tables.presets import preset, presets
from latebind.verify.run.installers import installer
from loadcheck.index.index import Index
from loadcheck.index.settings import read_index_settings
from tests.support.running import not_run, run_program

pytestmark = pytest.mark.slow

LIBRARY = re.compile(r"\.(so(\.\d+)*|dylib|dll)$")
SYSTEMS = ("linux", "windows", "macos")
EXTRAS = [(name, distribution) for name in presets() for distribution in preset(name).python.extras.values()]


def libraries(runtime, distribution, folder):
    """The files of the runtime in the newest wheel of a distribution, for the first system that has one."""
    runtime_preset = preset(runtime)
    for system in SYSTEMS:
        options = ["--no-deps", "--python-version", "3.12", "--python-platform", system, "--only-binary", ":all:"]
        command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", *options, "--target", folder / system]
        done = run_program(*command, f"{distribution}>={runtime_preset.floor}")
        if done.returncode == 0:
            globs = (*getattr(runtime_preset.names, system), *getattr(runtime_preset.globs, system))
            files = (folder / system / runtime_preset.python.folder).glob("*")
            return [file.name for file in files if any(fnmatch(file.name, glob) for glob in globs)]
    pytest.skip(f"not run: {distribution} cannot be installed: {done.stderr.strip()[-200:]}")


@pytest.mark.parametrize(("runtime", "distribution"), EXTRAS)
def test_an_extra_selects_a_distribution_that_holds_the_runtime(tmp_path, runtime, distribution):
    assert libraries(runtime, distribution, tmp_path)


@pytest.mark.parametrize(("runtime", "distribution"), EXTRAS)
def test_the_table_knows_all_libraries_of_the_newest_wheels(runtime, distribution):
    index = Index(read_index_settings())
    files = [file for file in index.list_files(distribution) if file.is_wheel]
    newest = max((file.version for file in files), key=Version)
    wheels = [index.read_wheel(file) for file in files if file.version == newest]
    names = {path.rpartition("/")[2].lower() for wheel in wheels for path in wheel.names}
    libraries = {name for name in names if LIBRARY.search(name) and ".cpython-" not in name}
    assert libraries
    known = preset(runtime).python.libraries
    assert [name for name in sorted(libraries) if not any(fnmatch(name, glob) for glob in known)] == []


@pytest.mark.slow
@pytest.mark.parametrize("rid", [rid for rid, properties in targets().items() if properties.libc != "musl"])
@pytest.mark.parametrize("extra", preset("onnxruntime").python.targets)
def test_the_index_has_wheels_for_exactly_the_targets_of_the_table(tmp_path, extra, rid):
    supply = preset("onnxruntime").python
    requirement = f"{supply.extras[extra]}>=1.19"
    missing = contextlib.nullcontext() if supply.is_supplied(extra, rid) else not_run("no-distribution")
    with missing:
        installer(tmp_path).resolve(requirement, Path(sys.executable), rid, "3.12")


def test_control_a_plugin_execution_provider_holds_no_runtime(tmp_path):
    assert not libraries("onnxruntime", "onnxruntime-qnn", tmp_path)

"""The packages of tests/clients/dotnet and a runtime package, made once for tests of .NET consumers."""

from __future__ import annotations

from importlib import metadata

import pytest

from latebind.ecosystems.nuget.managed import build_managed
from latebind.ecosystems.nuget.pack import pack_nupkgs
from latebind.ecosystems.nuget.runtime_package import assemble_runtime_nupkg
from latebind.tables.presets import preset
from tests.support.dotnet_support import CLIENT, RID, VERSION, make_config, make_stage, shared_library
from tests.support.needs import dotnet_environment


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("dotnet")


@pytest.fixture(scope="session")
def packages(work):
    """Demo, with a managed part, and Demo.Extra, for this machine."""
    managed = build_managed(
        CLIENT / "Demo", work / "managed", version=VERSION, environment=dotnet_environment(), home=work / "h"
    )
    core, extra = (
        shared_library(work / f"libdemo_{name}.so", f"int demo_{name}(void) {{ return {number}; }}")
        for name, number in (("core", 42), ("extra", 43))
    )
    stage = make_stage(work / "stage", {"core": [core], "extra": [extra]})
    config = make_config(work, core={"managed": "Demo"})
    made = [pack_nupkgs(config, "core", [stage], work / "dist", managed=managed)[0]]
    return [*made, *pack_nupkgs(config, "extra", [stage], work / "dist")]


@pytest.fixture(scope="session")
def runtime(work):
    """The version of the installed ONNX Runtime, and the package assembled from its library."""
    distribution = metadata.distribution("onnxruntime")
    library = next(
        distribution.locate_file(file)
        for file in distribution.files or ()
        if file.name.startswith("libonnxruntime.so.") and file.parent.name == "capi"
    )
    runtime_preset = preset("onnxruntime")
    nupkg = assemble_runtime_nupkg(library, distribution.version, work / "runtime", rid=RID, runtime=runtime_preset)
    return distribution.version, nupkg

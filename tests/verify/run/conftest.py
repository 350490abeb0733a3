"""latenn's packages, a runtime package and small cases, made once for all tests of .NET consumers."""

from __future__ import annotations

from importlib import metadata

import pytest

from latebind.ecosystems.nuget.managed import build_managed
from latebind.ecosystems.nuget.runtime_package import assemble_runtime_nupkg
from latebind.tables.presets import preset
from testing.needs import dotnet_environment
from tests.dotnet_support import LATENN, RID, VERSION, small_cases


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    return tmp_path_factory.mktemp("dotnet")


@pytest.fixture(scope="session")
def managed_build(work):
    return build_managed(
        LATENN / "dotnet" / "Latenn",
        work / "managed",
        version=VERSION,
        environment=dotnet_environment(),
        home=work / "h",
    )


@pytest.fixture(scope="session")
def packages(latenn_here):
    """Latenn and Latenn.OnnxRuntime for this machine."""
    dotnet_environment()  # without an SDK there is no Latenn, and this skips
    return [latenn_here / f"{name}.{VERSION}.nupkg" for name in ("Latenn", "Latenn.OnnxRuntime")]


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


@pytest.fixture(scope="session")
def cases(work):
    return small_cases(work / "cases")

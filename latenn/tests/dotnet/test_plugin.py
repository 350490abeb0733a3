"""latenn in a plug-in of a .NET program, whose libraries lie in a folder of each package, as in NuGet's cache."""

from __future__ import annotations

import json
import platform
import shutil
import sys
import zipfile

import models
import pytest

from tests.support.latenn import LATENN
from tests.support.programs import run_checked, run_program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the runtime's library is taken from a Linux wheel"),
]
RID = "linux-arm64" if platform.machine() == "aarch64" else "linux-x64"
PACKAGES = ("Latenn", "Latenn.OnnxRuntime")


def split(folder, packages, runtime):
    """Put the libraries of each package into a folder of its own, and say so in deps.json."""
    file = folder / "Plugin.deps.json"
    described = json.loads(file.read_bytes())
    (target,) = described["targets"].values()
    for package in packages:
        name = package.name.removesuffix(".0.1.0.nupkg")
        place = folder / "native" / name
        place.mkdir(parents=True)
        with zipfile.ZipFile(package) as archive:
            for entry in archive.namelist():
                if entry.startswith(f"runtimes/{RID}/native/"):
                    (place / entry.rpartition("/")[2]).write_bytes(archive.read(entry))
        if name.endswith("OnnxRuntime"):
            shutil.copy(runtime, place / "libonnxruntime.so")
        rows = {path.relative_to(folder).as_posix(): {"rid": RID, "assetType": "native"} for path in place.iterdir()}
        target[f"{name}/0.1.0"]["runtimeTargets"] = rows
    shutil.rmtree(folder / "runtimes")
    file.write_text(json.dumps(described), "utf-8")


def remove_natives(file):
    """Leave the libraries out of the program's own deps.json."""
    described = json.loads(file.read_bytes())
    (target,) = described["targets"].values()
    for package in PACKAGES:
        target[f"{package}/0.1.0"].pop("runtimeTargets")
    file.write_text(json.dumps(described), "utf-8")


def test_a_plugin_finds_its_libraries_where_dotnet_does(build_program, latenn_here, onnxruntime, tmp_path):
    packages = [latenn_here / f"{name}.0.1.0.nupkg" for name in PACKAGES]
    (dotnet, program), environment = build_program(LATENN / "tests/dotnet/plugin", packages)
    plugin = tmp_path / "plugin"
    shutil.copytree(program.parent, plugin)
    split(plugin, packages, onnxruntime)
    remove_natives(program.with_suffix(".deps.json"))
    shutil.rmtree(program.parent / "runtimes")
    model = tmp_path / "model.onnx"
    model.write_bytes(models.identity())

    assert run_program(dotnet, program, model, env=environment).returncode
    assert run_checked(dotnet, program, model, plugin / program.name, env=environment) == "loaded\n"

    # A plug-in beside it that .NET cannot read changes nothing.
    (plugin / "broken.deps.json").write_text("{", "utf-8")
    (plugin / "broken.dll").write_bytes(b"")
    assert run_checked(dotnet, program, model, plugin / program.name, env=environment) == "loaded\n"

"""The stub in applications of .NET, made by a real SDK: what users of .NET read, and that the runtime is found."""

import os
import sys
import zipfile

import pytest

from latebind.compilers import dotnet
from latebind.ecosystems.nuget.dotnet_project import build_consumer
from latebind.ecosystems.nuget.layouts import find_layout
from latebind.ecosystems.nuget.pack import pack_nupkgs
from latebind.ecosystems.nuget.runtime_package import assemble_runtime_nupkg
from latebind.system.run import run
from latebind.tables.presets import preset
from tests.loader.test_stub import build_programs, library
from tests.support.dotnet_support import RID, consumer, make_config, make_stage
from tests.support.emulated import ORT_VERSIONS
from tests.support.needs import dotnet_environment
from tests.support.running import run_checked

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the runtime's library is taken from a Linux wheel"),
]

PROJECT = """\
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>$(ConsumerFramework)</TargetFramework>
    <NoWarn>$(NoWarn);NETSDK1138</NoWarn>
    <InvariantGlobalization>true</InvariantGlobalization>
    <NuGetAudit>false</NuGetAudit>
  </PropertyGroup>
  <ItemGroup>
    <PackageReference Include="Demo" Version="[$(ProjectVersion)]" />
  </ItemGroup>
  <ItemGroup Condition="'$(RuntimeVersion)' != ''">
    <PackageReference Include="Microsoft.ML.OnnxRuntime" Version="[$(RuntimeVersion)]" />
  </ItemGroup>
</Project>
"""
PROGRAM = """\
using System;
using System.Runtime.InteropServices;

static class Program
{
    [DllImport("library")]
    static extern IntPtr library_problem();

    static void Main() { Console.Write(Marshal.PtrToStringAnsi(library_problem())); }
}
"""
PLUGIN = """\
using System;
using System.Runtime.InteropServices;

static class Program
{
    delegate IntPtr Problem();

    static void Main(string[] arguments)
    {
        var plugin = NativeLibrary.Load(arguments[0]);
        var address = NativeLibrary.GetExport(plugin, "library_problem");
        Console.Write(Marshal.PtrToStringAnsi(Marshal.GetDelegateForFunctionPointer<Problem>(address)()));
    }
}
"""


@pytest.fixture(scope="module")
def package(shared_folder, tmp_path_factory):
    """A NuGet package with a library that links the stub."""
    folder = tmp_path_factory.mktemp("package")
    stage = make_stage(
        folder / "stage", {"core": [build_programs(shared_folder, folder / "built", "", "library") / "liblibrary.so"]}
    )
    return pack_nupkgs(make_config(folder), "core", [stage], folder / "dist")[0]


def run_application(work, package, name, runtime=None, program=PROGRAM, arguments=()):
    """What the application prints: why the runtime cannot be used."""
    project = work / "project"
    project.mkdir(parents=True)
    (project / "User.csproj").write_text(PROJECT)
    (project / "User.cs").write_text(program)
    packages = consumer([package], runtime, project=project, version="0.1.0", layout=find_layout(name))
    application = build_consumer(packages, work / "w")
    environment = dotnet.private(packages.environment, work / "w" / "home")
    environment.pop("VIRTUAL_ENV", None)  # that of the tests has a runtime, which the stub would find
    return run((*application.argv, *arguments), env=environment).output


@pytest.mark.parametrize("name", ["dotnet-build", "dotnet-publish", "dotnet-cache"])
def test_without_the_runtime_the_sentence_names_its_nuget_package(tmp_path, package, name):
    sentence = run_application(tmp_path, package, name)
    assert sentence.startswith("ONNX Runtime was not found in ")
    assert "Get it with: dotnet add package Microsoft.ML.OnnxRuntime (or name its file in " in sentence


@pytest.mark.parametrize("name", ["dotnet-build", "dotnet-publish", "dotnet-cache"])
def test_the_runtimes_nuget_package_is_found(tmp_path, package, name):
    version = ORT_VERSIONS[-1]
    runtime_preset = preset("onnxruntime")
    runtime = assemble_runtime_nupkg(library(version), version, tmp_path / "runtime", rid=RID, runtime=runtime_preset)
    assert run_application(tmp_path, package, name, (version, runtime)) == ""


def test_a_plugin_elsewhere_finds_the_runtime_of_the_application(tmp_path, package):
    """What a P/Invoke of the plug-in's own would find, too."""
    with zipfile.ZipFile(package) as archive:
        plugin = tmp_path / "plugin" / "liblibrary.so"
        plugin.parent.mkdir()
        plugin.write_bytes(archive.read(f"runtimes/{RID}/native/liblibrary.so"))
    version = ORT_VERSIONS[-1]
    runtime = assemble_runtime_nupkg(
        library(version), version, tmp_path / "runtime", rid=RID, runtime=preset("onnxruntime")
    )
    ran = {"program": PLUGIN, "arguments": [str(plugin)]}
    assert run_application(tmp_path / "with", package, "dotnet-build", (version, runtime), **ran) == ""
    assert "was not found" in run_application(tmp_path / "without", package, "dotnet-build", **ran)


def test_the_command_for_a_damaged_runtime_replaces_it(tmp_path, package, packed_once):
    """`dotnet add package` alone leaves what is in the folder of packages as it is."""
    whole = library(ORT_VERSIONS[-1])
    (tmp_path / "cut").mkdir()
    cut = tmp_path / "cut" / whole.name
    cut.write_bytes(whole.read_bytes()[:100_000])
    runtime = assemble_runtime_nupkg(
        cut, ORT_VERSIONS[-1], tmp_path / "runtime", rid=RID, runtime=preset("onnxruntime")
    )
    sentence = run_application(tmp_path / "work", package, "dotnet-build", (ORT_VERSIONS[-1], runtime))
    assert "is not a usable library: truncated" in sentence
    commands = sentence.partition("Get it with: ")[2].partition(" (or ")[0].split(", after ")
    add, clear = (words.replace("Microsoft.ML.OnnxRuntime", "Tiny").split() for words in commands)
    start = make_application(tmp_path / "application", packed_once / "dist")
    start(*add)
    [installed] = (tmp_path / "application/packages").rglob("libtiny.so")
    size = installed.stat().st_size
    os.truncate(installed, 100)
    start(*add)
    assert installed.stat().st_size == 100
    start(*clear)
    start(*add)
    assert installed.stat().st_size == size


def make_application(folder, feed):
    """An application that takes packages from one folder; runs programs in it."""
    folder.mkdir()
    project = '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><TargetFramework>netcoreapp3.1</TargetFramework>'
    (folder / "App.csproj").write_text(f"{project}</PropertyGroup></Project>")
    sources = f'<packageSources><clear/><add key="feed" value="{feed}"/></packageSources>'
    (folder / "nuget.config").write_text(f"<configuration>{sources}</configuration>")
    environment = {**dotnet_environment(), "NUGET_PACKAGES": str(folder / "packages"), "DOTNET_NOLOGO": "1"}
    return lambda *words: run_checked(*words, cwd=folder, env=environment)

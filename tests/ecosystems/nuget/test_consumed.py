"""Packages of all shapes in the hands of a real SDK: split ones, and build files for .NET Framework and Mono."""

from __future__ import annotations

import os
import sys

import pytest

from latebind.compilers import dotnet, mono
from latebind.ecosystems.nuget.pack import pack_nupkgs
from latebind.system.run import run
from tests.support.client import edit
from tests.support.dotnet_support import NATIVE_FILES, make_config, make_stage, native_stages, shared_library
from tests.support.needs import dotnet_environment, with_mono

pytestmark = pytest.mark.slow

CLASSIC = mono.FRAMEWORK
PROGRAM = """
using System;
using System.Runtime.InteropServices;
static class Program
{
    [DllImport("demo", CallingConvention = CallingConvention.Cdecl)]
    static extern int demo_answer();
    static int Main() { Console.WriteLine($"answer {demo_answer()}"); return 0; }
}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    return dotnet.private(dotnet_environment(), tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def native(tmp_path_factory):
    """A file for each target in a folder of its name, and stages of them."""
    folder = tmp_path_factory.mktemp("native")
    return folder, native_stages(folder)


@pytest.fixture(scope="module")
def feeds(tmp_path_factory, native):
    """The packages whole and split, without managed code, each in a feed of its own."""
    root = tmp_path_factory.mktemp("feeds")
    for name, split in (("whole", False), ("split", True)):
        pack_nupkgs(make_config(root, core={"split": split}), "core", native[1], root / name)
    return root


def write_project(folder, feed, framework, *, references="", properties="", source=PROGRAM):
    folder.mkdir(parents=True)
    (folder / f"{folder.name}.csproj").write_text(
        f"""<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>{framework}</TargetFramework>
    <OutputType>Exe</OutputType>
    <EnableDefaultCompileItems>true</EnableDefaultCompileItems>
    <GenerateAssemblyInfo>false</GenerateAssemblyInfo>
    <NuGetAudit>false</NuGetAudit>
    <MSBuildWarningsAsMessages>MSB3101;MSB3088</MSBuildWarningsAsMessages>
    {properties}
  </PropertyGroup>
  <ItemGroup>
    {references or '<PackageReference Include="Demo" Version="0.1.0" />'}
  </ItemGroup>
</Project>
""",
        encoding="utf-8",
    )
    (folder / "Program.cs").write_text(source, encoding="utf-8")
    dotnet.write_nuget_config(folder / "NuGet.config", [str(feed)])
    return folder


def build(project, environment, *arguments, verb="build"):
    out = project / "out"
    argv = [dotnet.find(environment), verb, "--nologo", "-c", "Release", "-o", out, *arguments]
    return out, run(argv, cwd=project, env=environment, timeout=300).output


def natives(out):
    names = set(NATIVE_FILES.values())
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.name in names}


def own(environment, folder):
    return dotnet.own_framework(dotnet.sdk_version(environment, folder))


IN_FOLDERS = {f"runtimes/{rid}/native/{name}" for rid, name in NATIVE_FILES.items()}


@pytest.mark.parametrize("shape", ["whole", "split"])
def test_a_plain_build_finds_the_library_of_this_machine(tmp_path, feeds, environment, shape):
    project = write_project(tmp_path / "app", feeds / shape, own(environment, tmp_path))

    out, _ = build(project, environment)

    assert natives(out) == IN_FOLDERS, "and nothing beside the application, where build files would put it"
    if sys.platform == "linux" and os.uname().machine == "x86_64":
        assert run([dotnet.find(environment), out / "app.dll"], env=environment).output.strip() == "answer 42"


@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="not run: the library is for x64")
@pytest.mark.parametrize("verb", ["build", "publish"])
def test_an_upgrade_replaces_a_library_of_the_same_size(tmp_path, environment, verb, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    project = write_project(tmp_path / "app", tmp_path / "feed", own(environment, tmp_path))
    file, seen = project / "app.csproj", []
    for version, answer in (("0.1.0", 42), ("0.1.1", 43)):
        library = shared_library(tmp_path / version / "libdemo.so", f"int demo_answer(void) {{ return {answer}; }}")
        stage = make_stage(tmp_path / version / "stage", {"core": [library]}, "linux-x64")
        pack_nupkgs(make_config(tmp_path, project={"version": version}), "core", [stage], tmp_path / "feed")
        edit(file, 'Version="0.1.0"', f'Version="{version}"')
        out, _ = build(project, environment, verb=verb)
        seen.append(run([dotnet.find(environment), out / "app.dll"], env=environment).output.strip())
    assert seen == ["answer 42", "answer 43"]
    sizes = {(tmp_path / version / "libdemo.so").stat().st_size for version in ("0.1.0", "0.1.1")}
    assert len(sizes) == 1, "else the size would tell them apart"


@pytest.mark.parametrize(("shape", "rid"), [("whole", "osx-arm64"), ("split", "linux-x64"), ("split", "win-arm64")])
def test_publishing_for_a_target_lays_out_its_file_alone(tmp_path, feeds, native, environment, shape, rid):
    """test_applications.py publishes a whole package for every target."""
    project = write_project(
        tmp_path / "app", feeds / shape, own(environment, tmp_path), properties="<UseAppHost>false</UseAppHost>"
    )

    out, _ = build(project, environment, "-r", rid, "--self-contained", "false", verb="publish")

    assert natives(out) == {NATIVE_FILES[rid]}
    assert (out / NATIVE_FILES[rid]).read_bytes() == (native[0] / rid / NATIVE_FILES[rid]).read_bytes()


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="not run: the machine's system decides what is copied")


@pytest.fixture(scope="module")
def on_mono(environment):
    """Mono, with the reference assemblies of .NET Framework."""
    return mono.find(with_mono(environment))


@pytest.fixture
def api(on_mono):
    """Lets the SDK compile for .NET Framework."""
    properties = {"FrameworkPathOverride": on_mono.references, "AutomaticallyUseReferenceAssemblyPackages": "false"}
    return set_(**properties)


def run_by(on_mono, program, environment):
    return run([on_mono.program, program], env=environment, timeout=120).output.strip()


def set_(**properties):
    return "".join(f"<{name}>{value}</{name}>" for name, value in properties.items())


LINUX = {name for name in IN_FOLDERS if "/linux-" in name}
WINDOWS = {name for name in IN_FOLDERS if "/win-" in name}
AS_ON_WINDOWS = "-p:OS=Windows_NT"
"""MSBuild takes this machine for Windows: what the build file decides can be seen, what Windows does cannot."""
DLL = "demo_native.dll"


CLASSIC_ROWS = [
    ({}, (), {"libdemo.so", *LINUX}, "linux-x64"),
    ({"PlatformTarget": "x64"}, (), {"libdemo.so"}, "linux-x64"),
    ({"PlatformTarget": "ARM64"}, (), {"libdemo.so"}, "linux-arm64"),
    ({"PlatformTarget": "x86"}, (), {"libdemo.so", *LINUX}, "linux-x64"),  # Mono runs as what it is built for
    ({"OutputType": "Library"}, (), LINUX, ""),
    ({"OutputType": "Library", "PlatformTarget": "x64"}, (), {"libdemo.so"}, "linux-x64"),
    ({"Demo_CopyNative": "false"}, (), set(), ""),
    ({}, (AS_ON_WINDOWS,), {DLL, *WINDOWS}, "win-x64"),
    ({"PlatformTarget": "AnyCPU"}, (AS_ON_WINDOWS,), {DLL, *WINDOWS}, "win-x64"),
    ({"PlatformTarget": "x64"}, (AS_ON_WINDOWS,), {DLL}, "win-x64"),
    ({"PlatformTarget": "ARM64"}, (AS_ON_WINDOWS,), {DLL}, "win-arm64"),
]
SPLIT_ROWS = [CLASSIC_ROWS[0], CLASSIC_ROWS[-1]]
"""A part's build file has the same conditions: all processors here, one on Windows."""


@on_linux
@pytest.mark.parametrize(
    ("shape", "properties", "arguments", "expected", "beside"),
    [*(("whole", *case) for case in CLASSIC_ROWS), *(("split", *case) for case in SPLIT_ROWS)],
)
def test_a_classic_application_gets_the_files_of_its_processor(  # a table and its fixtures
    tmp_path, feeds, native, environment, api, shape, properties, arguments, expected, beside
):
    project = write_project(tmp_path / "app", feeds / shape, CLASSIC, properties=api + set_(**properties))

    out, log = build(project, environment, *arguments)

    assert natives(out) == expected
    assert "LATEBIND1" not in log
    if beside:
        assert (out / NATIVE_FILES[beside]).read_bytes() == (native[0] / beside / NATIVE_FILES[beside]).read_bytes()


@on_linux
@pytest.mark.parametrize("shape", ["whole", "split"])
@pytest.mark.parametrize("properties", [{"PlatformTarget": "x86"}, {"PlatformTarget": "AnyCPU", "Prefer32Bit": "true"}])
def test_a_classic_32_bit_application_is_warned_on_windows(tmp_path, feeds, environment, api, shape, properties):
    project = write_project(tmp_path / "app", feeds / shape, CLASSIC, properties=api + set_(**properties))

    out, log = build(project, environment, AS_ON_WINDOWS)

    assert natives(out) == set()
    warnings = {line.partition("warning ")[2].partition(" [")[0] for line in log.splitlines() if "LATEBIND1" in line}
    assert len(warnings) == 1
    assert "Demo has no native library for x86 processes on Windows, only for arm64 and x64" in warnings.pop()


@on_linux
@pytest.mark.parametrize("shape", ["whole", "split"])
def test_a_classic_application_on_mono_calls_the_library(tmp_path, feeds, environment, api, on_mono, shape):
    project = write_project(tmp_path / "app", feeds / shape, CLASSIC, properties=api)

    out, _ = build(project, environment)

    assert run_by(on_mono, out / "app.exe", environment) == "answer 42"


@on_linux
@pytest.mark.parametrize("shape", ["whole", "split"])
def test_a_classic_application_that_refers_to_a_library_gets_the_files_too(
    tmp_path, feeds, environment, api, on_mono, shape
):
    source = PROGRAM.replace("static class Program", "public static class Program").replace(
        "static int", "public static int"
    )
    library = set_(OutputType="Library")
    write_project(tmp_path / "lib", feeds / shape, CLASSIC, properties=api + library, source=source)
    reference = '<ProjectReference Include="../lib/lib.csproj" />'
    main = "static class App { static int Main() => Program.Main(); }"
    project = write_project(tmp_path / "app", feeds / shape, CLASSIC, references=reference, properties=api, source=main)

    out, _ = build(project, environment)

    assert natives(out) == {"libdemo.so", *LINUX}
    assert run_by(on_mono, out / "app.exe", environment) == "answer 42"


@on_linux
def test_publishing_a_classic_application_takes_the_files_along(tmp_path, feeds, environment, api):
    project = write_project(tmp_path / "app", feeds / "whole", CLASSIC, properties=api)

    out, _ = build(project, environment, verb="publish")

    assert natives(out) == {"libdemo.so", *LINUX}

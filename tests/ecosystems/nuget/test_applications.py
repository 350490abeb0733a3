"""Each .NET consumer: what a good package gives it, and a really broken package that it catches."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace

import pytest

from latebind.compilers import dotnet, mono
from latebind.compilers.dotnet import write_nuget_config
from latebind.ecosystems.nuget import layouts
from latebind.ecosystems.nuget.dotnet_project import DotnetConsumer, build_consumer
from latebind.ecosystems.nuget.layouts import OLDER_FRAMEWORK, Application, find_layout, next_to_it, one_program
from latebind.ecosystems.nuget.pack import pack_nupkgs
from latebind.system.run import run
from latebind.verify.run.trial import PhaseError
from tests.support.client import members, rewritten
from tests.support.dotnet_support import (
    NATIVE_FILES,
    RID,
    consumer,
    make_config,
    make_stage,
    native_stages,
    run_smoke,
    shared_library,
    without,
)
from tests.support.needs import dotnet_environment
from tests.support.running import not_run, run_checked

NATIVE = f"runtimes/{RID}/native/"
CORE, EXTRA, ORT = "libdemo_core.so", "libdemo_extra.so", "libonnxruntime.so"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="not run: the runtime's library is taken from a Linux wheel"),
]


def describe_application(made_for, ended):
    """What the proofs look at."""
    document, built = ended.document, ended.made
    return Application(
        packages=made_for.packages,
        rid=made_for.rid,
        out=built.out,
        cache=built.cache,
        libraries=document.libraries,
        parts=len(made_for.packages),
        framework=document.assembly.framework,
    )


def unproven(made_for, ended):
    return [wrong for proof in made_for.layout.proofs for wrong in proof(describe_application(made_for, ended))]


@pytest.mark.slow
# `python3 noxfile.py` verifies a project in every layout but that of Mono, with the same proofs.
@pytest.mark.parametrize("name", ["dotnet-build", "dotnet-single-file", "mono"])
def test_good_packages_compute_and_hold_what_the_consumer_promises(tmp_path, packages, runtime, name):
    made_for = consumer(packages, runtime, layout=find_layout(name))

    ended = run_smoke(made_for, tmp_path / "w")

    assert (ended.status, ended.document.passed) == (0, ["42", "43"]), ended.output
    assert unproven(made_for, ended) == []
    loaded = {path.rpartition("/")[2]: path for path in ended.document.libraries}
    assert {CORE, EXTRA, ORT} <= set(loaded)
    assert all(path.startswith(str(tmp_path)) for path in loaded.values())


@pytest.mark.slow
def test_a_core_package_without_its_native_file_fails(tmp_path, packages, runtime):
    broken = without(packages[0], "libdemo_core", tmp_path / "broken")

    ended = run_smoke(
        consumer([broken, packages[1]], runtime, layout=find_layout("dotnet-single-file")), tmp_path / "w"
    )

    assert (ended.status, "demo_core" in ended.document.error.message) == (3, True)


TARGETS = b"""<Project>
  <Target Name="CopyNative" AfterTargets="Build">
    <Copy SourceFiles="$(MSBuildThisFileDirectory)libdemo_core.so" DestinationFolder="$(OutDir)" />
  </Target>
</Project>
"""


@pytest.mark.slow
def test_a_native_file_that_build_files_copy_does_not_reach_whoever_refers_to_a_library(tmp_path, packages, runtime):
    """In build/ it serves a direct reference, so that `dotnet-build` sees nothing wrong."""

    def to_build(name, data):
        return (f"build/{CORE}" if name == NATIVE + CORE else name, data)

    broken = rewritten(packages[0], tmp_path / "broken", to_build, [("build/Demo.targets", TARGETS)])
    feed = [broken, packages[1]]

    direct = run_smoke(consumer(feed, runtime), tmp_path / "direct")
    behind = run_smoke(consumer(feed, runtime, layout=find_layout("dotnet-transitive")), tmp_path / "behind")

    assert direct.status == 0
    assert (behind.status, "demo_core" in behind.document.error.message) == (3, True)


@pytest.mark.slow
def test_an_assembly_that_is_kept_out_of_the_program_is_found_beside_it(tmp_path, packages, runtime):
    keep_out = b"""<Project>
  <Target Name="KeepOut" AfterTargets="ComputeResolvedFilesToPublishList">
    <ItemGroup>
      <ResolvedFileToPublish Condition="'%(Filename)%(Extension)' == 'Demo.dll'" ExcludeFromSingleFile="true" />
    </ItemGroup>
  </Target>
</Project>
"""
    added = [("build/Demo.targets", keep_out)]
    broken = rewritten(packages[0], tmp_path / "broken", add=added)
    made_for = consumer([broken, packages[1]], runtime, layout=find_layout("dotnet-single-file"))

    built = build_consumer(made_for, tmp_path / "w")
    looked_at = Application(packages=made_for.packages, rid=RID, out=built.out, cache=built.cache)
    assert one_program(looked_at) == ["Demo.dll is next to the program, not inside it"]
    if built.sdk.startswith("3."):  # newer ones search next to the program, too
        with pytest.raises(PhaseError, match="Could not load file or assembly 'Demo"):
            run_smoke(made_for, tmp_path / "run")


@pytest.mark.slow
def test_packages_that_carry_each_others_files_are_not_apart(tmp_path, packages, runtime):
    extra = NATIVE + EXTRA
    core = rewritten(packages[0], tmp_path / "b", add=[(extra, members(packages[1])[extra])])
    made_for = consumer(
        [core, without(packages[1], ".so", tmp_path / "c")], runtime, layout=find_layout("dotnet-cache")
    )
    ended = run_smoke(made_for, tmp_path / "w")

    assert ended.status == 0, "it works, and yet each library should come with its own package"
    (wrong,) = unproven(made_for, ended)
    assert wrong.startswith("native libraries came from 2 packages instead of 3: ")


def with_build_files(package, folder, old, new, add=()):
    """The package with other words in its build files for .NET Framework."""

    def change(name, data):
        if not name.endswith(f"/net461/{package.name.partition('.0.')[0]}.targets"):
            return name, data
        assert old in data
        return name, data.replace(old, new)

    return rewritten(package, folder, change, add)


@pytest.mark.slow
def test_a_package_without_build_files_fails_on_mono_alone(tmp_path, packages, runtime):
    feed = [without(packages[0], "/net461/", tmp_path / "broken"), packages[1]]

    elsewhere = run_smoke(consumer(feed, runtime), tmp_path / "core")
    on_mono = run_smoke(consumer(feed, runtime, layout=find_layout("mono")), tmp_path / "mono")

    assert elsewhere.status == 0
    assert (on_mono.status, "demo_core" in on_mono.document.error.message) == (3, True)


@pytest.mark.builds
def test_build_files_that_copy_another_library_than_the_packages_are_told(tmp_path, packages, runtime):
    """An older one that was left in the package: it computes, and is not what every other application gets."""
    older = ("older/" + CORE, members(packages[0])[NATIVE + CORE] + b"older")
    original, instead = rb"..\..\runtimes\linux-x64\native\*", rb"..\..\older\*"
    broken = with_build_files(packages[0], tmp_path / "b", original, instead, [older])
    made_for = consumer([broken, packages[1]], runtime, layout=find_layout("mono"))

    ended = run_smoke(made_for, tmp_path / "w")

    assert ended.status == 0
    assert unproven(made_for, ended) == [f"{CORE} differs from Demo.0.1.0.nupkg!{NATIVE}{CORE}"]


@pytest.mark.builds
def test_a_library_that_is_copied_below_the_application_alone_is_told(tmp_path, packages, runtime):
    broken = with_build_files(packages[1], tmp_path / "b", b"'$(_LatebindBeside)' == 'x64'", b"false")
    made_for = consumer([packages[0], broken], runtime, layout=find_layout("mono"))

    ended = run_smoke(made_for, tmp_path / "w")

    looked_at = Application(packages=made_for.packages, rid=RID, out=ended.made.out, cache=ended.made.cache)
    missing = f"{EXTRA} is missing; it should come from Demo.Extra.0.1.0.nupkg!{NATIVE}{EXTRA}"
    assert (ended.status, next_to_it(looked_at)) == (3, [missing])


@pytest.mark.builds
def test_without_mono_it_is_not_run(tmp_path, packages):
    environment = dict(dotnet_environment())
    environment["PATH"] = str(dotnet.find(environment).parent)

    with not_run("no-mono", "no `mono` on PATH"):
        build_consumer(consumer(packages, layout=find_layout("mono"), environment=environment), tmp_path / "w")


def test_a_mono_without_reference_assemblies_is_not_enough(tmp_path):
    program = tmp_path / "usr/bin/mono"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)

    with not_run("no-mono", "a Mono without reference assemblies"):
        mono.find({"PATH": str(program.parent)})


@pytest.mark.builds
def test_an_older_assembly_that_is_the_newer_one_is_told(tmp_path, packages, runtime):
    newer = members(packages[0])["lib/netstandard2.1/Demo.dll"]

    def same(name, data):
        return (name, newer if name == "lib/netstandard2.0/Demo.dll" else data)

    broken = rewritten(packages[0], tmp_path / "broken", same)
    made_for = consumer([broken, packages[1]], runtime, layout=find_layout("dotnet-netstandard2.0"))

    ended = run_smoke(made_for, tmp_path / "w")

    (wrong,) = unproven(made_for, ended)
    assert ".NETStandard,Version=v2.1 was loaded" in wrong
    assert OLDER_FRAMEWORK in wrong


@pytest.mark.slow
def test_another_package_of_the_same_name_is_told(tmp_path, packages, runtime):
    made_for = consumer(packages, runtime)
    ended = run_smoke(made_for, tmp_path / "w")
    installed = next(ended.made.cache.glob("demo/*/*.nupkg"))
    installed.write_bytes(installed.read_bytes() + b"x")

    (wrong,) = unproven(made_for, ended)

    assert wrong.startswith("NuGet installed a Demo.0.1.0.nupkg")


@pytest.mark.builds
@pytest.mark.parametrize("name", [entry.name for entry in layouts.LAYOUTS if entry.needs_sdk])
def test_what_needs_a_newer_sdk_says_so_with_an_old_one(tmp_path, packages, name):
    made_for = consumer(packages, layout=find_layout(name))
    program = shutil.which("dotnet", path=made_for.environment["PATH"])
    sdk = run_checked(program, "--version", env=made_for.environment)
    if int(sdk.partition(".")[0]) >= find_layout(name).needs_sdk:
        pytest.skip("not run: the SDK here is new enough")

    with not_run("no-sdk", r"8\.0 or newer, but 3\.1"):
        build_consumer(made_for, tmp_path / "w")


# ---- the files for every target --------------------------------------------------------------------------------------

PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>$(ConsumerFramework)</TargetFramework>
    <MSBuildWarningsAsMessages>MSB3101;MSB3088</MSBuildWarningsAsMessages>
  </PropertyGroup>
  <ItemGroup><PackageReference Include="Demo" Version="[$(ProjectVersion)]" /></ItemGroup>
</Project>
"""


@pytest.fixture(scope="session")
def demo(tmp_path_factory):
    """A package with a file for each target, and the folder of a console project that consumes it."""
    root = tmp_path_factory.mktemp("demo")
    package = pack_nupkgs(make_config(root), "core", native_stages(root), root / "dist")[0]
    (root / "app").mkdir()
    (root / "app" / "App.csproj").write_text(PROJECT, encoding="utf-8")
    (root / "app" / "Program.cs").write_text("static class Program { static void Main() { } }", encoding="utf-8")
    return package, root / "app"


def check_published(package, project, rid, work):
    """What the proofs find in the package, published for a target."""
    made_for = DotnetConsumer(
        project=project,
        packages=[package],
        version="0.1.0",
        environment=dotnet_environment(),
        layout=find_layout("dotnet-files"),
        rid=rid,
    )
    built = build_consumer(made_for, work)
    looked_at = Application(packages=[package], rid=rid, out=built.out, cache=built.cache)
    return [wrong for proof in made_for.layout.proofs for wrong in proof(looked_at)]


@pytest.mark.slow
@pytest.mark.parametrize("rid", NATIVE_FILES)
def test_the_files_of_every_target_are_published(tmp_path, demo, rid):
    assert check_published(*demo, rid, tmp_path / "w") == []


BESIDE = b"""<Project>
  <ItemGroup>
    <None Include="$(MSBuildThisFileDirectory)../runtimes/win-x64/native/*" Link="%(Filename)%(Extension)"
          CopyToPublishDirectory="Always" CopyToOutputDirectory="Always" />
    <None Include="$(MSBuildThisFileDirectory)../runtimes/linux-x64/native/*" Link="%(Filename)%(Extension)"
          CopyToPublishDirectory="Always" CopyToOutputDirectory="Always" />
  </ItemGroup>
</Project>
"""
INSTEAD = b"""<Project>
  <Target Name="Spoil" AfterTargets="Publish">
    <Copy SourceFiles="$(MSBuildThisFileDirectory)../runtimes/win-x64/native/demo_native.dll"
          DestinationFolder="$(PublishDir)" />
  </Target>
</Project>
"""


@pytest.mark.builds
@pytest.mark.parametrize(
    ("missing", "targets", "rid", "wrong"),
    [
        ("runtimes/osx-arm64/", b"", "osx-arm64", ["no package has a native file for osx-arm64"]),
        ("nothing", BESIDE, "osx-x64", ["demo_native.dll is of another RID", "libdemo.so is of another RID"]),
        ("nothing", INSTEAD, "win-arm64",
         ["demo_native.dll differs from Demo.0.1.0.nupkg!runtimes/win-arm64/native/demo_native.dll"]),
    ],
    ids=["no file", "a file that the build puts beside and another target needs", "a file of another processor"],
)  # fmt: skip
def test_wrong_files_of_a_target_are_told(tmp_path, demo, missing, targets, rid, wrong):
    package, project = demo
    added = [("build/Demo.targets", targets)] if targets else []
    broken = rewritten(without(package, missing, tmp_path / "without"), tmp_path / "broken", add=added)
    assert check_published(broken, project, rid, tmp_path / "w") == wrong


# ---- the control: a library that links its runtime -------------------------------------------------------------------

CONTROL = """using System;
using System.Runtime.InteropServices;
static class Program
{
    [DllImport("demo")] static extern int demo_answer();
    static int Main() { Console.WriteLine($"answer {demo_answer()}"); return 0; }
}
"""
ALONE = """
int demo_answer(void) { return 42; }
"""
LINKS = """
int rt_answer(void);
int demo_answer(void) { return rt_answer(); }
"""


@pytest.mark.slow
@pytest.mark.parametrize(("source", "linked", "works"), [(ALONE, False, True), (LINKS, True, False)])
def test_control_a_library_that_links_its_runtime_fails_straight_from_the_package_cache(  # a table
    tmp_path, source, linked, works
):
    """dotnet/core-setup#4303: the system's loader does not search the folder of another package, with the runtime."""
    answer, soname = "int rt_answer(void) { return 42; }", "-Wl,-soname,librt_demo.so"
    rt = shared_library(tmp_path / "librt_demo.so", answer, soname)
    demo = shared_library(tmp_path / "libdemo.so", source, *([f"-L{tmp_path}", "-lrt_demo"] if linked else []))
    stage = make_stage(tmp_path / "stage", {"core": [demo], "extra": [rt]})
    config = make_config(tmp_path)
    feed = [pack_nupkgs(config, name, [stage], tmp_path / "dist")[0] for name in ("core", "extra")]
    project = tmp_path / "app"
    project.mkdir()
    both = PROJECT.replace("</ItemGroup>", '<PackageReference Include="Demo.Extra" Version="0.1.0" /></ItemGroup>')
    (project / "App.csproj").write_text(both, encoding="utf-8")
    (project / "Program.cs").write_text(CONTROL, encoding="utf-8")
    environment = dotnet_environment()
    base = DotnetConsumer(project=project, packages=feed, version="0.1.0", environment=environment)

    ended = {}
    for name in ("dotnet-publish", "dotnet-cache"):
        made_for = replace(base, layout=find_layout(name))
        ended[name] = run(build_consumer(made_for, tmp_path / name).argv, env=environment, check=False)

    # Laid flat, only an rpath or LD_LIBRARY_PATH is missing; from the cache there is no single folder to name.
    assert (ended["dotnet-cache"].output.strip() == "answer 42") == works
    if not works:
        assert "librt_demo.so" in ended["dotnet-cache"].output
        assert "cannot open shared object file" in ended["dotnet-cache"].output


def test_a_feed_of_its_own_is_the_only_one_unless_parts_of_dotnet_are_fetched(tmp_path):
    for alone in (True, False):
        write_nuget_config(tmp_path / "NuGet.config", ["/feed"], alone=alone)
        packages = (tmp_path / "NuGet.config").read_text("utf-8").partition("</packageSources>")[0]
        assert ("<clear />" in packages) == alone

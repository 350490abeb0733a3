"""What a managed project becomes, what is refused, and that a trimmed assembly looks nothing up by its name."""

from __future__ import annotations

import shutil
import zipfile

import defusedxml.ElementTree
import pytest

from latebind.compilers.dotnet import find, write_nuget_config
from latebind.config.file import load
from latebind.ecosystems.nuget.contents import list_assemblies
from latebind.ecosystems.nuget.managed import build_managed
from latebind.ecosystems.plugin.pack import write_helper
from latebind.errors import BuildError
from tests.conftest import ROOT
from tests.support.client import edit, write_files
from tests.support.dotnet_reader import PROJECT, STATED, find_lookups
from tests.support.dotnet_support import CLIENT
from tests.support.needs import dotnet_environment
from tests.support.running import not_run

FRAMEWORKS = ["netstandard2.0", "netstandard2.1"]
BINDING = CLIENT / "Demo"


def build(project, root, environment=None, **more):
    return build_managed(
        project,
        root / "out",
        version="0.1.0",
        environment=dotnet_environment() if environment is None else environment,
        home=root / "home",
        **more,
    )


def content(built):
    return {
        f"{variant.framework}/{file.name}": file.read_bytes()
        for variant in built
        for file in (variant.assembly, variant.documentation, variant.symbols)
    }


def members(documentation):
    return {member.get("name") for member in defusedxml.ElementTree.parse(documentation).iter("member")}


@pytest.mark.slow
def test_two_builds_in_different_folders_give_equal_bytes_and_name_no_folder(tmp_path, monkeypatch):
    copy = tmp_path / "else where" / "Binding"
    shutil.copytree(BINDING, copy)

    here = content(build(BINDING, tmp_path / "a"))
    monkeypatch.setenv("TMPDIR", str(copy))
    elsewhere = content(build(copy, tmp_path / "b é"))

    assert here == elsewhere
    names = ("Demo.dll", "Demo.xml", "Demo.pdb")
    assert set(here) == {f"{framework}/{name}" for framework in FRAMEWORKS for name in names}
    for data in here.values():
        assert str(ROOT).encode() not in data
        assert str(tmp_path).encode() not in data


@pytest.mark.slow
def test_nothing_is_written_into_the_source_folder(tmp_path):
    before = sorted(path.relative_to(BINDING) for path in BINDING.rglob("*"))

    built = build(BINDING, tmp_path)

    assert [variant.framework for variant in built] == FRAMEWORKS
    assert sorted(path.relative_to(BINDING) for path in BINDING.rglob("*")) == before
    assert not any(path.name.startswith(".managed-") for path in tmp_path.iterdir())


@pytest.mark.slow
def test_files_in_output_folders_below_the_project_are_not_compiled(tmp_path):
    project = tmp_path / "a (b)"
    shutil.copytree(BINDING, project)
    folders = [project / "build", project / "50% done; 2" / "dist"]
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "Broken.cs").write_text("class {", encoding="utf-8")
    arguments = {"version": "0.1.0", "environment": dotnet_environment(), "home": tmp_path / "home"}

    built = build_managed(project, project / "build" / "managed", apart=folders, **arguments)

    assert content(built) == content(build(BINDING, tmp_path))
    with pytest.raises(BuildError, match=r"Broken\.cs"):
        build_managed(project, project / "build" / "managed", **arguments)


@pytest.mark.slow
def test_a_compile_error_is_told_and_the_earlier_result_stays(tmp_path):
    copy = tmp_path / "source"
    shutil.copytree(BINDING, copy)
    earlier = content(build(copy, tmp_path))
    (copy / "Broken.cs").write_text("class {", encoding="utf-8")

    with pytest.raises(BuildError, match=r"does not compile[\s\S]*Broken.cs"):
        build(copy, tmp_path)

    files = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {path.relative_to(tmp_path / "out").as_posix(): data for path, data in files.items()} == earlier


@pytest.mark.slow
def test_the_newer_framework_offers_all_of_the_older_one_and_memory_beside(tmp_path):
    old, new = (members(variant.documentation) for variant in build(BINDING, tmp_path))

    assert (old < new, {name.partition("(")[0] for name in new - old}) == (True, {"M:Demo.Numbers.Write"})


@pytest.mark.slow
def test_a_project_of_one_framework_makes_one_assembly(tmp_path):
    copy = tmp_path / "source"
    shutil.copytree(BINDING, copy)
    plural = "<TargetFrameworks>netstandard2.0;netstandard2.1</TargetFrameworks>"
    single = "<TargetFramework>netstandard2.1</TargetFramework>"
    edit(copy / "Demo.csproj", plural, single)

    (built,) = build(copy, tmp_path)

    assert built.framework == "netstandard2.1"
    assert built.assembly == tmp_path / "out" / "netstandard2.1" / "Demo.dll"


def test_without_an_sdk_it_is_not_run_with_a_reason(tmp_path):
    with not_run("no-dotnet") as caught:
        build(BINDING, tmp_path, environment={"PATH": str(tmp_path)})
    assert "Install a .NET SDK" in str(caught.value)


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({}, "no .csproj"),
        ({"a.csproj": "<Project/>", "b.csproj": "<Project/>"}, "2 .csproj files"),
        ({"a.csproj": "<Project"}, "not readable as XML"),
        ({"a.csproj": "<Project/>"}, "has no <TargetFramework>"),
        ({"a.csproj": '<!DOCTYPE a [<!ENTITY b "c">]><Project>&b;</Project>'}, "not readable as XML"),
    ],
)
def test_a_folder_that_is_no_managed_project_is_refused(tmp_path, files, says):
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    with pytest.raises(BuildError, match=says):
        build(tmp_path, tmp_path, environment={"PATH": ""})


_PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>{framework}</TargetFramework>
  </PropertyGroup>
  <ItemGroup>
    {reference}
  </ItemGroup>
</Project>
"""


def write_project(folder, reference="", framework="netstandard2.1"):
    """A managed project with one reference, and a feed next to it."""
    folder.mkdir(parents=True)
    (folder / "Plain.csproj").write_text(_PROJECT.format(framework=framework, reference=reference), encoding="utf-8")
    (folder / "Plain.cs").write_text("public static class Plain { }", encoding="utf-8")
    write_nuget_config(folder / "NuGet.config", [str(folder.parent / "feed")])
    return folder


def reference_assembly():
    """The netstandard.dll that an SDK carries to compile against."""
    program = find(dotnet_environment()).resolve()
    return next(path for path in sorted(program.parent.glob("sdk/*/ref/netstandard.dll"))).read_bytes()


def write_package(feed, id_, version, files):
    feed.mkdir(exist_ok=True)
    nuspec = f"""<package><metadata><id>{id_}</id><version>{version}</version><authors>a</authors>
<description>d</description></metadata></package>"""
    with zipfile.ZipFile(feed / f"{id_}.{version}.nupkg", "w") as archive:
        for name, data in {f"{id_}.nuspec": nuspec, **files}.items():
            archive.writestr(name, data)


@pytest.mark.builds
def test_a_plain_project_for_netstandard2_0_gets_its_reference_package_from_the_feed(tmp_path):
    project = write_project(tmp_path / "Plain", framework="netstandard2.0")
    write_package(
        tmp_path / "feed",
        "NETStandard.Library",
        "2.0.3",
        {"lib/netstandard2.0/netstandard.dll": reference_assembly()},
    )

    (built,) = build(project, tmp_path)

    assert built.assembly.is_file()


@pytest.mark.builds
def test_what_other_builds_left_in_the_project_is_not_compiled(tmp_path):
    project = write_project(tmp_path / "Plain")
    for folder in ("obj/Debug/netstandard2.1", "bin/Debug"):
        (project / folder).mkdir(parents=True)
        (project / folder / "Twice.cs").write_text("public static class Plain { }", encoding="utf-8")

    (built,) = build(project, tmp_path)

    assert built.assembly.is_file()


@pytest.mark.builds
def test_translations_are_kept_in_folders_of_their_cultures(tmp_path):
    project = write_project(tmp_path / "Plain")
    kinds = {"resmimetype": "text/microsoft-resx", "version": "2.0"}
    kinds |= {name: f"System.Resources.ResX{name.capitalize()}" for name in ("reader", "writer")}
    headers = "".join(f'<resheader name="{name}"><value>{text}</value></resheader>' for name, text in kinds.items())
    for name, text in {"Texts.resx": "Hello", "Texts.de.resx": "Hallo", "Texts.pt-BR.resx": "Oi"}.items():
        (project / name).write_text(f'<root>{headers}<data name="Hi"><value>{text}</value></data></root>', "utf-8")

    (built,) = build(project, tmp_path)

    names = [entry.name for entry in list_assemblies([built])]
    folder = "lib/netstandard2.1"
    translations = [f"{folder}/{culture}/Plain.resources.dll" for culture in ("de", "pt-BR")]
    assert names == [f"{folder}/Plain.dll", *translations]


@pytest.mark.builds
def test_a_package_that_only_the_build_needs_is_fetched(tmp_path):
    project = write_project(
        tmp_path / "Plain", '<PackageReference Include="Tools" Version="1.2.0" PrivateAssets="all" />'
    )
    write_package(tmp_path / "feed", "Tools", "1.2.0", {"build/Tools.props": "<Project />"})

    (built,) = build(project, tmp_path)

    assert built.framework == "netstandard2.1"


@pytest.mark.builds
def test_a_package_that_the_nuspec_will_not_require_is_refused(tmp_path):
    project = write_project(tmp_path / "Plain", '<PackageReference Include="Tools" Version="1.2.0" />')
    write_package(tmp_path / "feed", "Tools", "1.2.0", {"lib/netstandard2.0/_._": ""})

    with pytest.raises(BuildError, match="references the package Tools, which the NuGet package will not require"):
        build(project, tmp_path)
    (built,) = build(project, tmp_path, required=["tools"])

    assert built.assembly.is_file()


@pytest.mark.builds
def test_a_project_whose_assembly_the_package_would_lack_is_refused(tmp_path):
    project = write_project(tmp_path / "Plain", '<ProjectReference Include="../Other/Other.csproj" />')
    other = write_project(tmp_path / "Other")
    (other / "Plain.csproj").rename(other / "Other.csproj")
    (tmp_path / "feed").mkdir()

    with pytest.raises(BuildError, match=r"needs Other\.dll, which the NuGet package will not contain"):
        build(project, tmp_path)


# ---- trimming and AOT ----


UNSAFE = """\
using System;
using System.Runtime.InteropServices;
public static class Made
{
    public static object Of(string name) { return Activator.CreateInstance(Type.GetType(name)); }
    public static int Size(Type type) { return Marshal.SizeOf(type) + Marshal.SizeOf<long>(); }
    public static IntPtr To(Delegate made) { return Marshal.GetFunctionPointerForDelegate(made); }
    public static Delegate From(IntPtr made) { return Marshal.GetDelegateForFunctionPointer(made, typeof(Action)); }
}
"""


@pytest.mark.slow
def test_the_helper_of_an_execution_provider_is_trimmable(tmp_path, read_assembly):
    config = load(ROOT / "examples" / "ep-tiny" / "latebind.toml")
    (variant,) = build(write_helper(config, "tiny", [], tmp_path / "helper"), tmp_path)
    lines = read_assembly(variant.assembly)
    assert set(lines) >= STATED
    assert find_lookups(lines) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "says",
    [
        *("Activator.CreateInstance", "Type.GetType", "Runtime.InteropServices.Marshal.SizeOf"),
        "Runtime.InteropServices.Marshal.GetDelegateForFunctionPointer",
    ],
)
def test_a_lookup_by_name_is_found(tmp_path, read_assembly, says):
    folder = write_files(tmp_path / "Tiny", {"Tiny.csproj": PROJECT, "Made.cs": UNSAFE})
    (variant,) = build(folder, tmp_path)
    lines = read_assembly(variant.assembly)
    assert f"System.{says}" in find_lookups(lines)
    assert STATED.isdisjoint(lines)

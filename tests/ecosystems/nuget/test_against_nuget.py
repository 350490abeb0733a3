"""Our container and nuspec compared with those that NuGet makes from the same nuspec."""

from __future__ import annotations

import dataclasses

import defusedxml.ElementTree
import pytest

from latebind.backend.targets import Rid
from latebind.compilers import dotnet
from latebind.ecosystems.nuget.contents import exclude_others
from latebind.ecosystems.nuget.nuspec import render_nuspec
from latebind.ecosystems.nuget.opc import CONTENT_TYPES, RELATIONSHIPS, write_nupkg
from latebind.system.archive import Entry
from latebind.system.run import run
from tests.ecosystems.nuget.test_nuspec import FULL
from tests.support.client import member, members
from tests.support.needs import dotnet_environment

NUSPEC = dataclasses.replace(FULL, license="MIT OR Apache-2.0", readme="", dependencies=())
FILES = ("lib/netstandard2.0/_._", "runtimes/linux-x64/native/libdemo.so", "content/noextension", "content/a b+c.txt")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """The package that `dotnet pack` makes; it checks the nuspec against NuGet's schema."""
    folder = tmp_path_factory.mktemp("pack")
    environment = dotnet.private(dotnet_environment(), folder / "home")
    framework = dotnet.own_framework(dotnet.sdk_version(environment, folder))
    project = folder / "project"
    project.mkdir()
    (project / "P.csproj").write_text(
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup>'
        f"<TargetFramework>{framework}</TargetFramework></PropertyGroup></Project>",
        encoding="utf-8",
    )
    dotnet.write_nuget_config(project / "NuGet.config", [])
    base = folder / "base"
    for name in (*FILES, "lib/netstandard2.0/demo.pdb"):  # the last goes into the symbol package alone
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_bytes(b"1")
    (folder / "demo.nuspec").write_bytes(render_nuspec(NUSPEC))
    settings = [f"-p:NuspecFile={folder / 'demo.nuspec'}", f"-p:NuspecBasePath={base}", "-p:NoWarn=NU5105%3BNU5100"]
    settings += ["-p:IncludeSymbols=true", "-p:SymbolPackageFormat=snupkg"]
    run(
        [dotnet.find(environment), "pack", "--nologo", "-o", folder / "out", *settings],
        cwd=project, env=environment, timeout=300,
    )  # fmt: skip
    return next((folder / "out").glob("*.nupkg"))


@pytest.fixture(scope="module")
def application(tmp_path_factory):
    """The folder of an application that references our package, and the environment of its SDK."""
    folder = tmp_path_factory.mktemp("application")
    environment = dotnet.private(dotnet_environment(), folder / "home")
    framework = dotnet.own_framework(dotnet.sdk_version(environment, folder))
    rids = [Rid("linux-x64"), Rid("linux-arm64"), Rid("linux-musl-arm64")]
    entries = [
        Entry(name="lib/netstandard2.0/_._", data=b""),
        *(Entry(name=f"runtimes/{rid}/native/libdemo.so", data=rid.encode()) for rid in rids),
        *exclude_others(rids, rids),
    ]
    (folder / "feed").mkdir()
    write_nupkg(folder / f"feed/{NUSPEC.id}.{NUSPEC.version}.nupkg", NUSPEC, render_nuspec(NUSPEC), entries)
    (folder / "P.csproj").write_text(
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><UseAppHost>false</UseAppHost>'
        f"<TargetFramework>{framework}</TargetFramework></PropertyGroup><ItemGroup>"
        f'<PackageReference Include="{NUSPEC.id}" Version="{NUSPEC.version}"/></ItemGroup></Project>',
        encoding="utf-8",
    )
    dotnet.write_nuget_config(folder / "NuGet.config", [str(folder / "feed")])
    return folder, environment


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rid", "taken"),
    [
        ("linux-x64", "linux-x64"),
        ("linux-arm64", "linux-arm64"),
        ("linux-musl-arm64", "linux-musl-arm64"),
        ("linux-musl-x64", ""),
        ("linux-bionic-arm64", ""),
    ],
)
def test_nuget_gives_a_library_only_to_systems_with_its_c_library(application, tmp_path, rid, taken):
    folder, environment = application
    options = ["--nologo", "-r", rid, "--self-contained", "false", "-o", tmp_path]
    run([dotnet.find(environment), "publish", *options], cwd=folder, env=environment, timeout=300)
    given = [path.read_text("utf-8") for path in tmp_path.rglob("libdemo.so")]
    assert given == ([taken] if taken else [])
    assert not list(tmp_path.rglob("_._"))


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    path = tmp_path_factory.mktemp("ours") / "a.nupkg"
    write_nupkg(path, NUSPEC, render_nuspec(NUSPEC), [Entry(name=name, data=b"1") for name in FILES])
    return path


def xml(package, suffix):
    return defusedxml.ElementTree.fromstring(member(package, suffix))


def rows(package, name, *attributes):
    return {tuple(element.get(attribute) for attribute in attributes) for element in xml(package, name)}


def metadata(package):
    """Element name → text and attributes; `owners` repeats `authors` and is left out by newer NuGet."""
    root = xml(package, ".nuspec")[0]
    elements = [element for element in root if not element.tag.endswith("owners")]
    return {element.tag.rpartition("}")[2]: ((element.text or "").strip(), element.attrib) for element in elements}


def test_the_same_files_have_the_same_part_names(theirs, ours):
    def parts(package):
        return {name for name in members(package) if not name.endswith(".psmdcp")}

    assert parts(ours) == parts(theirs)


def test_content_types_are_the_same(theirs, ours):
    attributes = ("Extension", "PartName", "ContentType")

    assert rows(ours, CONTENT_TYPES, *attributes) == rows(theirs, CONTENT_TYPES, *attributes)


def test_relationships_are_of_the_same_types(theirs, ours):
    assert rows(ours, RELATIONSHIPS, "Type") == rows(theirs, RELATIONSHIPS, "Type")


def test_nuget_takes_the_nuspec_and_writes_the_same_metadata(theirs, ours):
    assert metadata(ours) == metadata(theirs)


def test_core_properties_are_the_same_but_for_who_wrote_them(theirs, ours):
    def properties(package):
        root = xml(package, ".psmdcp")
        return {element.tag: element.text for element in root if not element.tag.endswith("lastModifiedBy")}

    assert properties(ours) == properties(theirs)


def test_the_nuspec_of_symbols_has_what_nuget_writes_there(theirs):
    ours = defusedxml.ElementTree.fromstring(render_nuspec(NUSPEC, template="symbols"))[0]
    root = xml(theirs.with_suffix(".snupkg"), ".nuspec")[0]

    def list_elements(metadata):
        elements = [*metadata, *metadata.findall("*/*")]
        return {
            (element.tag.rpartition("}")[2], (element.text or "").strip(), tuple(sorted(element.attrib.items())))
            for element in elements
        }

    assert list_elements(ours) == list_elements(root)

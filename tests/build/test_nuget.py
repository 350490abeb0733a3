from __future__ import annotations

import json
import re
import zipfile

import pytest
from latebind.build.managed import ManagedBuild
from latebind.build.nuget import describe, pack_nupkgs
from latebind.build.stage import open_stage, write_manifest
from latebind.errors import BuildError
from latebind.model import Rid
from latebind.nuget.nuspec import Dependency

from tests.dotnet_support import make_config, make_stage

FRAMEWORKS = ("netstandard2.0", "netstandard2.1")
JPEG = b"\xff\xd8\xff\xe0"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)


@pytest.fixture
def library(tmp_path):
    def make(name):
        path = tmp_path / "built" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\x7fELF" + name.encode())
        return path

    return make


@pytest.fixture
def managed(tmp_path):
    folder = tmp_path / "managed"
    folder.mkdir()
    for name in ("Demo.dll", "Demo.xml", "Demo.pdb"):
        (folder / name).write_bytes(name.encode())
    (folder / "Demo.pdb").write_bytes(b"BSJB")
    return tuple(
        ManagedBuild(
            framework=framework,
            assembly=folder / "Demo.dll",
            documentation=folder / "Demo.xml",
            symbols=folder / "Demo.pdb",
        )
        for framework in FRAMEWORKS
    )


def pack_nupkg(*args, **keywords):
    return pack_nupkgs(*args, **keywords)[0]


def names(artifact):
    with zipfile.ZipFile(artifact.path) as archive:
        return {name for name in archive.namelist() if name.startswith(("lib/", "runtimes/")) or name.endswith(".md")}


def read(artifact, suffix):
    with zipfile.ZipFile(artifact.path) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(suffix)]
        return archive.read(name)


def test_native_files_lie_flat_for_each_target_beside_the_managed_part(tmp_path, library, managed):
    config = make_config(tmp_path, core={"managed": "dotnet"})
    libraries = [library("libdemo.so"), library("libdemo_more.so.1")]
    stages = [make_stage(tmp_path / "stage", {"core": libraries}, rid) for rid in ("linux-x64", "linux-arm64")]

    made = pack_nupkg(config, "core", stages, tmp_path / "dist", managed=managed)

    assert made.path.name == "Demo.0.1.0.nupkg"
    assert names(made) == {
        *(f"lib/{framework}/Demo.{suffix}" for framework in FRAMEWORKS for suffix in ("dll", "xml")),
        "runtimes/linux-x64/native/libdemo.so",
        "runtimes/linux-x64/native/libdemo_more.so.1",
        "runtimes/linux-arm64/native/libdemo.so",
        "runtimes/linux-arm64/native/libdemo_more.so.1",
    }


def test_the_native_bytes_are_those_of_the_stage(tmp_path, library):
    file = library("libdemo.so")

    made = pack_nupkg(
        make_config(tmp_path), "core", [make_stage(tmp_path / "stage", {"core": [file]})], tmp_path / "dist"
    )

    with zipfile.ZipFile(made.path) as archive:
        assert archive.read("runtimes/linux-x64/native/libdemo.so") == file.read_bytes()


def test_a_package_of_native_files_alone_suits_netstandard_by_an_empty_marker(tmp_path, library):
    stage = make_stage(tmp_path / "stage", {"extra": [library("libextra.so")]})

    made = pack_nupkg(make_config(tmp_path), "extra", [stage], tmp_path / "dist")

    assert names(made) == {"lib/netstandard2.0/_._", "runtimes/linux-x64/native/libextra.so"}


def test_two_builds_in_different_folders_give_equal_bytes(tmp_path, library, managed):
    config = make_config(tmp_path, core={"managed": "dotnet"})
    made = [
        pack_nupkg(config, "core", [make_stage(tmp_path / name, {"core": [library("libdemo.so")]})],
                   tmp_path / name / "dist", managed=managed)
        for name in ("a", "b")
    ]  # fmt: skip

    assert made[0].sha256 == made[1].sha256
    assert made[0].path.read_bytes() == made[1].path.read_bytes()


def test_a_sibling_becomes_a_dependency_of_the_same_minor_version(tmp_path):
    nuspec = describe(make_config(tmp_path), "extra")

    assert nuspec.dependencies == (Dependency(id="Demo", range="[0.1.0, 0.2.0)"),)
    assert (nuspec.id, nuspec.version, nuspec.tags) == ("Demo.Extra", "0.1.0", ("onnx", "native"))


def test_the_runtimes_package_is_a_dependency_from_the_one_minimum_when_asked_for(tmp_path):
    nuspec = describe(make_config(tmp_path, extra={"runtime": "Microsoft.ML.OnnxRuntime"}), "extra")

    assert Dependency(id="Microsoft.ML.OnnxRuntime", range="1.19.0") in nuspec.dependencies


def test_a_runtime_dependency_of_a_package_that_binds_none_is_refused(tmp_path):
    with pytest.raises(BuildError, match="binds no runtime"):
        describe(make_config(tmp_path, core={"runtime": "Microsoft.ML.OnnxRuntime"}), "core")


def test_the_readme_goes_in_with_unix_line_ends(tmp_path, library):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "NUGET.md").write_bytes(b"# Demo\r\n")
    config = make_config(tmp_path, project={"readme": "docs/NUGET.md"})

    made = pack_nupkg(
        config, "core", [make_stage(tmp_path / "stage", {"core": [library("libdemo.so")]})], tmp_path / "dist"
    )

    with zipfile.ZipFile(made.path) as archive:
        assert archive.read("NUGET.md") == b"# Demo\n"
        assert b"<readme>NUGET.md</readme>" in archive.read("Demo.nuspec")


def test_managed_and_native_names_that_differ_by_case_alone_are_refused(tmp_path, library, managed):
    config = make_config(tmp_path, core={"managed": "dotnet"})
    stage = make_stage(tmp_path / "stage", {"core": [library("demo.dll")]})

    with pytest.raises(BuildError, match=r"lib/netstandard2.0/Demo.dll and .*demo.dll would overwrite each other"):
        pack_nupkg(config, "core", [stage], tmp_path / "dist", managed=managed)

    assert not (tmp_path / "dist").exists()


def test_two_libraries_that_flatten_to_one_name_are_refused(tmp_path, library):
    stage = make_stage(tmp_path / "stage", {"core": [library("libdemo.so"), library("libDemo.so")]})

    with pytest.raises(BuildError, match="two files are named"):
        pack_nupkg(make_config(tmp_path), "core", [stage], tmp_path / "dist")


@pytest.mark.parametrize(("core", "says"), [({"managed": "dotnet"}, "was not built"), ({}, "is not configured")])
def test_the_managed_part_must_be_there_exactly_when_configured(tmp_path, library, managed, core, says):
    stage = make_stage(tmp_path / "stage", {"core": [library("libdemo.so")]})

    with pytest.raises(BuildError, match=says):
        pack_nupkg(make_config(tmp_path, core=core), "core", [stage], tmp_path, managed=() if core else managed)


def test_a_component_without_a_library_makes_no_package(tmp_path, library):
    stage = make_stage(tmp_path / "stage", {"extra": [library("libextra.so")]})

    with pytest.raises(BuildError, match="installed no shared library"):
        pack_nupkg(make_config(tmp_path), "core", [stage], tmp_path / "dist")
    with pytest.raises(BuildError, match="no target is staged"):
        pack_nupkg(make_config(tmp_path), "core", [], tmp_path / "dist")


def test_the_dependencies_hold_for_each_framework(tmp_path, library, managed):
    stage = make_stage(tmp_path / "stage", {"extra": [library("libextra.so")]})

    made = pack_nupkg(make_config(tmp_path, extra={"managed": "m"}), "extra", [stage], tmp_path / "d", managed=managed)

    nuspec = read(made, ".nuspec").decode()
    for framework in (".NETStandard2.0", ".NETStandard2.1"):
        group = nuspec.partition(f'<group targetFramework="{framework}">')[2].partition("</group>")[0]
        assert '<dependency id="Demo" version="[0.1.0, 0.2.0)" />' in group


def split(tmp_path, library, managed=(), **changes):
    config = make_config(tmp_path, core={"split": True} | ({"managed": "m"} if managed else {}), **changes)
    rids = ("linux-x64", "win-arm64")
    stages = [make_stage(tmp_path / "stage", {"core": [library(f"libdemo-{rid}.so")]}, rid) for rid in rids]
    return pack_nupkgs(config, "core", stages, tmp_path / "dist", managed=managed)


def test_a_split_package_has_one_part_for_each_target_and_pins_them(tmp_path, library, managed):
    made = split(tmp_path, library, managed)

    assert [artifact.path.name for artifact in made] == [
        "Demo.0.1.0.nupkg",
        "Demo.runtime.linux-x64.0.1.0.nupkg",
        "Demo.runtime.win-arm64.0.1.0.nupkg",
        "Demo.0.1.0.snupkg",
    ]
    assert names(made[0]) == {f"lib/{f}/Demo.{suffix}" for f in FRAMEWORKS for suffix in ("dll", "xml")}
    assert names(made[1]) == {"lib/netstandard2.0/_._", "runtimes/linux-x64/native/libdemo-linux-x64.so"}
    for rid in ("linux-x64", "win-arm64"):
        pin = f'<dependency id="Demo.runtime.{rid}" version="[0.1.0]" />'
        assert read(made[0], ".nuspec").decode().count(pin) == len(FRAMEWORKS)


def test_each_part_has_a_bill_and_the_upper_one_names_the_parts(tmp_path, library):
    bills = [json.loads(read(artifact, ".cdx.json")) for artifact in split(tmp_path, library)]

    assert [bill["metadata"]["component"]["purl"] for bill in bills] == [
        "pkg:nuget/Demo@0.1.0", "pkg:nuget/Demo.runtime.linux-x64@0.1.0", "pkg:nuget/Demo.runtime.win-arm64@0.1.0",
    ]  # fmt: skip
    assert [part["name"] for part in bills[0]["components"]] == ["Demo.runtime.linux-x64", "Demo.runtime.win-arm64"]
    assert [part["name"] for part in bills[1]["components"]] == ["libdemo-linux-x64.so"]


@pytest.mark.parametrize(("limit", "files"), [(10**6, 1), (10**3, 2)])
def test_a_package_over_the_feeds_limit_is_split(tmp_path, library, limit, files):
    stage = make_stage(tmp_path / "stage", {"core": [library("libdemo.so")]})

    made = pack_nupkgs(make_config(tmp_path), "core", [stage], tmp_path / "dist", feed_limit=limit)

    assert len(made) == len(list((tmp_path / "dist").iterdir())) == files


def test_a_package_over_the_limit_stays_whole_when_it_must_not_be_split(tmp_path, library):
    stage = make_stage(tmp_path / "stage", {"core": [library("libdemo.so")]})

    made = pack_nupkgs(make_config(tmp_path, core={"split": False}), "core", [stage], tmp_path / "dist", feed_limit=1)

    assert len(made) == 1


def test_a_split_package_refuses_names_that_meet_in_an_application_too(tmp_path, library, managed):
    config = make_config(tmp_path, core={"managed": "dotnet", "split": True})
    stage = make_stage(tmp_path / "stage", {"core": [library("demo.dll")]}, "win-x64")

    with pytest.raises(BuildError, match="would overwrite each other"):
        pack_nupkgs(config, "core", [stage], tmp_path / "dist", managed=managed)

    assert not (tmp_path / "dist").exists()


@pytest.mark.parametrize(("name", "data"), [("icon.png", PNG), ("a.jpg", JPEG), ("b.JPEG", JPEG)])
def test_the_icon_goes_in(tmp_path, library, name, data):
    (tmp_path / name).write_bytes(data)
    stage = make_stage(tmp_path / "stage", {"core": [library("libdemo.so")]})

    made = pack_nupkg(make_config(tmp_path, project={"icon": name}), "core", [stage], tmp_path / "dist")

    assert read(made, name) == data
    assert f"<icon>{name}</icon>".encode() in read(made, ".nuspec")


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("icon.png", b"\xff\xd8\xff\xe0", "is no PNG file"),
        ("icon.jpg", PNG, "is no JPG file"),
        ("icon.svg", b"<svg/>", "not a PNG or JPEG"),
        ("icon.png", PNG + bytes(1024 * 1024), "NuGet takes 1048576"),
        ("icon.png", None, "cannot be read"),
    ],
)
def test_an_icon_that_nuget_would_refuse_is_refused(tmp_path, library, name, data, says):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    stage = make_stage(tmp_path / "stage", {"core": [library("libdemo.so")]})

    with pytest.raises(BuildError, match=says):
        pack_nupkg(make_config(tmp_path, core={"icon": name}), "core", [stage], tmp_path / "dist")


def test_portable_symbols_and_nothing_else_make_a_symbol_package(tmp_path, library, managed):
    config = make_config(tmp_path, core={"managed": "dotnet"})
    stage = make_stage(tmp_path / "stage", {"core": [library("libdemo.so")]})

    made = pack_nupkgs(config, "core", [stage], tmp_path / "dist", managed=managed, commit="a" * 40)[1]

    assert (made.kind, made.path.name) == ("snupkg", "Demo.0.1.0.snupkg")
    assert names(made) == {f"lib/{framework}/Demo.pdb" for framework in FRAMEWORKS}
    nuspec = read(made, ".nuspec").decode()
    assert '<packageType name="SymbolsPackage" />' in nuspec
    assert 'commit="' + "a" * 40 in nuspec


def test_symbols_in_the_format_of_windows_alone_make_no_symbol_package(tmp_path, library, managed):
    managed[0].symbols.write_bytes(b"Microsoft C/C++ MSF 7.00")
    config = make_config(tmp_path, core={"managed": "dotnet"})
    stage = make_stage(tmp_path / "stage", {"core": [library("libdemo.so")]})

    assert len(pack_nupkgs(config, "core", [stage], tmp_path / "dist", managed=managed)) == 1


def with_headers(root, rid, text="int demo(void);"):
    """A stage with a header, and for Windows an import library."""
    folder = root / rid / "core"
    windows = rid.startswith("win")
    files = {"include/demo/demo.h": text, "lib/libdemo.so": "x"}
    if windows:
        files = {"include/demo/demo.h": text, "bin/demo_native.dll": "x", "lib/demo_native.lib": rid}
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(data, encoding="utf-8")
    write_manifest(root / rid, rid=Rid(rid), key="k", source_hash="s", toolchain="host", floor="2.28")
    return open_stage(root / rid)


@pytest.mark.parametrize("split", [False, True])
def test_headers_and_import_libraries_go_where_native_projects_look(tmp_path, split):
    stages = [with_headers(tmp_path / "stage", rid) for rid in ("linux-x64", "win-x64", "win-arm64")]

    made = pack_nupkg(make_config(tmp_path, core={"split": split}), "core", stages, tmp_path / "dist")

    with zipfile.ZipFile(made.path) as archive:
        native = {name for name in archive.namelist() if name.startswith("build/native/")}
        text = archive.read("build/native/Demo.targets").decode()
    assert native == {
        "build/native/Demo.targets", "build/native/include/demo/demo.h",
        "build/native/lib/win-x64/demo_native.lib", "build/native/lib/win-arm64/demo_native.lib",
    }  # fmt: skip
    assert re.findall(r"<ItemDefinitionGroup Condition=.* == '(.*)'\">", text) == ["arm64", "x64"]
    assert "$(MSBuildThisFileDirectory)include;" in text


def test_headers_that_differ_between_targets_are_refused(tmp_path):
    stages = [with_headers(tmp_path / "stage", "linux-x64"), with_headers(tmp_path / "stage", "win-x64", "long demo;")]

    with pytest.raises(BuildError, match=r"demo/demo\.h differs between linux-x64 and win-x64"):
        pack_nupkg(make_config(tmp_path), "core", stages, tmp_path / "dist")


def test_a_package_without_headers_has_no_folder_for_native_projects(tmp_path, library):
    stage = make_stage(tmp_path / "stage", {"core": [library("libdemo.so")]})

    made = pack_nupkg(make_config(tmp_path), "core", [stage], tmp_path / "dist")

    with zipfile.ZipFile(made.path) as archive:
        assert not [name for name in archive.namelist() if name.startswith("build/native/")]

"""What goes where into a nupkg, what it depends on, and what is refused."""

from __future__ import annotations

import json
import re

import pytest

from latebind.ecosystems.nuget.managed import ManagedBuild
from latebind.ecosystems.nuget.nuspec import Dependency
from latebind.ecosystems.nuget.pack import describe, pack_nupkgs
from latebind.errors import BuildError
from tests.support.client import member, members, write_files
from tests.support.dotnet_support import RID, make_config, make_stage, write_stage

FRAMEWORKS = ("netstandard2.0", "netstandard2.1")
JPEG = b"\xff\xd8\xff\xe0"
PNG = b"\x89PNG\r\n\x1a\n" + bytes(100)
MANAGED = {"managed": "dotnet"}


@pytest.fixture
def assemblies(tmp_path):
    files = [tmp_path / "managed" / f"Demo.{suffix}" for suffix in ("dll", "xml", "pdb")]
    files[0].parent.mkdir()
    for file, data in zip(files, (b"Demo.dll", b"Demo.xml", b"BSJB"), strict=True):
        file.write_bytes(data)
    dll, xml, pdb = files
    return tuple(
        ManagedBuild(framework=framework, assembly=dll, documentation=xml, symbols=pdb) for framework in FRAMEWORKS
    )


def nupkgs(root, *libraries, package="core", rids=(RID,), project=None, settings=None, **more):
    """The packages of a component whose libraries have their names as content; `settings` are its table for NuGet."""
    (root / "built").mkdir(exist_ok=True)
    for name in libraries:
        (root / "built" / name).write_bytes(b"\x7fELF" + name.encode())
    built = [root / "built" / name for name in libraries]
    stages = [make_stage(root / "stage", {package: built}, rid) for rid in rids]
    config = make_config(root, project=project or {}, **{package: settings or {}})
    return pack_nupkgs(config, package, stages, root / "dist", **more)


def names(path):
    return {name for name in members(path) if name.startswith(("lib/", "runtimes/"))}


def empty(processor):
    """What keeps the libraries for glibc from Alpine and Android."""
    return {f"runtimes/{system}-{processor}/native/_._" for system in ("linux-bionic", "linux-musl")}


def nuspec_of(path):
    return member(path, ".nuspec").decode()


def test_native_files_lie_flat_for_each_target_beside_the_managed_part(tmp_path, assemblies):
    rids, libraries = ("linux-x64", "linux-arm64"), ("libdemo.so", "libdemo_more.so.1")
    package = nupkgs(tmp_path, *libraries, rids=rids, settings=MANAGED, managed=assemblies)[0]
    assert package.name == "Demo.0.1.0.nupkg"
    assert names(package) == {
        *(f"lib/{framework}/Demo.{suffix}" for framework in FRAMEWORKS for suffix in ("dll", "xml")),
        *(f"runtimes/{rid}/native/{library}" for rid in rids for library in libraries),
        *(empty("x64") | empty("arm64")),
    }


def test_a_package_of_native_files_alone_suits_netstandard_by_an_empty_marker(tmp_path):
    (package,) = nupkgs(tmp_path, "libextra.so", package="extra")
    own = {"lib/netstandard2.0/_._", "runtimes/linux-x64/native/libextra.so"}
    assert names(package) == own | empty("x64")
    assert not [name for name in members(package) if name.startswith("build/native/")]


def test_what_alpine_and_android_get_is_left_empty_but_where_they_have_a_library(tmp_path):
    [package] = nupkgs(tmp_path, "libextra.so", rids=("linux-x64", "linux-musl-x64", "linux-riscv64"), package="extra")
    places = [name for name in names(package) if name.endswith("/native/_._")]
    assert sorted(places) == [
        "runtimes/linux-bionic-x64/native/_._",
        "runtimes/linux-musl-riscv64/native/_._",
    ]


def test_a_sibling_becomes_a_dependency_of_the_same_minor_version(tmp_path):
    nuspec = describe(make_config(tmp_path), "extra")
    assert nuspec.dependencies == (Dependency(id="Demo", range="[0.1.0, 0.2.0)"),)
    assert (nuspec.id, nuspec.version, nuspec.tags) == ("Demo.Extra", "0.1.0", ("onnx", "native"))


def test_the_runtimes_package_is_a_dependency_from_the_one_minimum_when_asked_for(tmp_path):
    nuspec = describe(make_config(tmp_path, extra={"runtime": "Microsoft.ML.OnnxRuntime"}), "extra")
    assert Dependency(id="Microsoft.ML.OnnxRuntime", range="1.19.0") in nuspec.dependencies
    with pytest.raises(BuildError, match="binds no runtime"):
        describe(make_config(tmp_path, core={"runtime": "Microsoft.ML.OnnxRuntime"}), "core")


def test_the_readme_goes_in_with_unix_line_ends(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "NUGET.md").write_bytes(b"# Demo\r\n")
    (package,) = nupkgs(tmp_path, "libdemo.so", project={"readme": "docs/NUGET.md"})
    assert members(package)["NUGET.md"] == b"# Demo\n"
    assert "<readme>NUGET.md</readme>" in nuspec_of(package)


@pytest.mark.parametrize(
    ("libraries", "settings", "says"),
    [
        (["demo.dll"], MANAGED, r"lib/netstandard2.0/Demo.dll and .*demo.dll would overwrite each other"),
        (["demo.dll"], MANAGED | {"split": True}, "would overwrite each other"),
        (["libdemo.so", "libDemo.so"], MANAGED, "two files in runtimes/linux-x64/native have the name"),
        (["libdemo.so"], {}, "is not configured"),
        ([], MANAGED, "installed no shared library"),
    ],
    ids=["case", "case-split", "one-name", "managed-not-configured", "no-library"],
)
def test_files_that_do_not_fit_are_refused_and_nothing_is_written(tmp_path, assemblies, libraries, settings, says):
    with pytest.raises(BuildError, match=says):
        nupkgs(tmp_path, *libraries, settings=settings, managed=assemblies)
    assert not (tmp_path / "dist").exists()


def test_a_managed_part_that_was_not_built_and_no_stage_are_refused(tmp_path):
    with pytest.raises(BuildError, match="was not built"):
        nupkgs(tmp_path, "libdemo.so", settings=MANAGED)
    with pytest.raises(BuildError, match="no target is staged"):
        pack_nupkgs(make_config(tmp_path), "core", [], tmp_path / "dist")


def test_the_dependencies_hold_for_each_framework(tmp_path, assemblies):
    nuspec = nuspec_of(nupkgs(tmp_path, "libextra.so", package="extra", settings=MANAGED, managed=assemblies)[0])
    for framework in (".NETStandard2.0", ".NETStandard2.1"):
        group = nuspec.partition(f'<group targetFramework="{framework}">')[2].partition("</group>")[0]
        assert '<dependency id="Demo" version="[0.1.0, 0.2.0)" />' in group


SPLIT = {"rids": ("linux-x64", "win-arm64"), "settings": {"split": True}}


def test_a_split_package_has_one_part_for_each_target_and_pins_them(tmp_path, assemblies):
    packages = nupkgs(tmp_path, "libdemo.so", **SPLIT | {"settings": MANAGED | {"split": True}}, managed=assemblies)
    assert [path.name for path in packages] == [
        "Demo.0.1.0.nupkg",
        "Demo.runtime.linux-x64.0.1.0.nupkg",
        "Demo.runtime.win-arm64.0.1.0.nupkg",
        "Demo.0.1.0.snupkg",
    ]
    assert names(packages[0]) == {f"lib/{f}/Demo.{suffix}" for f in FRAMEWORKS for suffix in ("dll", "xml")}
    own = {"lib/netstandard2.0/_._", "runtimes/linux-x64/native/libdemo.so"}
    assert names(packages[1]) == own | empty("x64")
    for rid in SPLIT["rids"]:
        pin = f'<dependency id="Demo.runtime.{rid}" version="[0.1.0]" />'
        assert nuspec_of(packages[0]).count(pin) == len(FRAMEWORKS)


def test_each_part_has_a_bill_and_the_upper_one_names_the_parts(tmp_path):
    packages = nupkgs(tmp_path, "libdemo.so", **SPLIT)
    bills = [json.loads(member(path, ".cdx.json")) for path in packages]
    parts = [f"Demo.runtime.{rid}" for rid in SPLIT["rids"]]
    purls = [f"pkg:nuget/{name}@0.1.0" for name in ("Demo", *parts)]
    assert [bill["metadata"]["component"]["purl"] for bill in bills] == purls
    assert [part["name"] for part in bills[0]["components"]] == parts
    assert [part["name"] for part in bills[1]["components"]] == ["libdemo.so"]


@pytest.mark.parametrize(("limit", "split", "files"), [(10**6, "auto", 1), (10**3, "auto", 2), (1, False, 1)])
def test_a_package_over_the_feeds_limit_is_split_unless_it_must_not_be(tmp_path, limit, split, files, capsys):
    packages = nupkgs(tmp_path, "libdemo.so", settings={"split": split}, feed_limit=limit)
    assert len(packages) == len(list((tmp_path / "dist").iterdir())) == files
    warnings = capsys.readouterr().err
    assert warnings.count("warning: Demo.") == sum(package.stat().st_size > limit for package in packages)
    assert ('write split = "auto" instead of false' in warnings) == (split is False)


@pytest.mark.parametrize(("name", "data"), [("icon.png", PNG), ("a.jpg", JPEG), ("b.JPEG", JPEG)])
def test_the_icon_goes_in(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    (package,) = nupkgs(tmp_path, "libdemo.so", project={"icon": name})
    assert members(package)[name] == data
    assert f"<icon>{name}</icon>" in nuspec_of(package)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("icon.png", b"\xff\xd8\xff\xe0", "is not a PNG file"),
        ("icon.jpg", PNG, "is not a JPG file"),
        ("icon.svg", b"<svg/>", "not a PNG or JPEG"),
        ("icon.png", PNG + bytes(1024 * 1024), "NuGet accepts at most 1048576"),
        ("icon.png", None, "cannot be read"),
    ],
)
def test_an_icon_that_nuget_would_refuse_is_refused(tmp_path, name, data, says):
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(BuildError, match=says):
        nupkgs(tmp_path, "libdemo.so", settings={"icon": name})


def test_portable_symbols_and_nothing_else_make_a_symbol_package(tmp_path, assemblies):
    package = nupkgs(tmp_path, "libdemo.so", settings=MANAGED, managed=assemblies, commit="a" * 40)[1]
    assert package.name == "Demo.0.1.0.snupkg"
    assert names(package) == {f"lib/{framework}/Demo.pdb" for framework in FRAMEWORKS}
    assert '<packageType name="SymbolsPackage" />' in nuspec_of(package)
    assert 'commit="' + "a" * 40 in nuspec_of(package)


def test_symbols_in_the_format_of_windows_alone_make_no_symbol_package(tmp_path, assemblies):
    assemblies[0].symbols.write_bytes(b"Microsoft C/C++ MSF 7.00")
    assert len(nupkgs(tmp_path, "libdemo.so", settings=MANAGED, managed=assemblies)) == 1


def with_headers(root, rid, text="int demo(void);"):
    """A stage with a header, and for Windows an import library and a static one."""
    windows = {"bin/demo_native.dll": "x", "lib/demo_native.lib": rid, "lib/still.lib": "!<arch>\n"}
    files = {"include/demo/demo.h": text, **(windows if rid.startswith("win") else {"lib/libdemo.so": "x"})}
    write_files(root / rid / "core", files)
    return write_stage(root / rid, rid)


@pytest.mark.parametrize("split", [False, True])
def test_headers_and_import_libraries_go_where_native_projects_look(tmp_path, split):
    stages = [with_headers(tmp_path / "stage", rid) for rid in ("linux-x64", "win-x64", "win-arm64")]
    packages = pack_nupkgs(make_config(tmp_path, core={"split": split}), "core", stages, tmp_path / "dist")
    package = packages[0]
    native = {name: data for name, data in members(package).items() if name.startswith("build/native/")}
    text = native["build/native/Demo.targets"].decode()
    assert set(native) == {
        "build/native/Demo.targets", "build/native/include/demo/demo.h",
        "build/native/lib/win-x64/demo_native.lib", "build/native/lib/win-arm64/demo_native.lib",
    }  # fmt: skip
    assert re.findall(r"<ItemDefinitionGroup Condition=.* == '(.*)'\">", text) == ["arm64", "x64"]
    assert "$(MSBuildThisFileDirectory)include;" in text
    copied = {}
    for packed in packages:
        for name, data in members(packed).items():
            if name.startswith("build/native/") and name.endswith(".targets"):
                copied[name] = re.findall(r"\.\.\\runtimes\\(.+)\\native\\\*\.dll", data.decode())
    if split:
        part = "build/native/Demo.runtime.{}.targets".format
        own = {part("win-arm64"): ["win-arm64"], part("win-x64"): ["win-x64"]}
        assert copied == {"build/native/Demo.targets": [], **own}
    else:
        assert copied == {"build/native/Demo.targets": ["win-arm64", "win-x64"]}


def test_headers_that_differ_between_targets_are_refused(tmp_path):
    stages = [with_headers(tmp_path / "stage", "linux-x64"), with_headers(tmp_path / "stage", "win-x64", "long demo;")]
    with pytest.raises(BuildError, match=r"demo/demo\.h differs between linux-x64 and win-x64"):
        pack_nupkgs(make_config(tmp_path), "core", stages, tmp_path / "dist")

from __future__ import annotations

import zipfile

import pytest
from latebind.build.managed import ManagedBuild
from latebind.build.nuget import describe, pack_nupkg
from latebind.errors import BuildError
from latebind.nuget.nuspec import Dependency

from tests.dotnet_support import make_config, make_stage


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
    return ManagedBuild(
        framework="netstandard2.0",
        assembly=folder / "Demo.dll",
        documentation=folder / "Demo.xml",
        symbols=folder / "Demo.pdb",
    )


def names(artifact):
    with zipfile.ZipFile(artifact.path) as archive:
        return {name for name in archive.namelist() if name.startswith(("lib/", "runtimes/")) or name.endswith(".md")}


def test_native_files_lie_flat_for_each_target_beside_the_managed_part(tmp_path, library, managed):
    config = make_config(tmp_path, core={"managed": "dotnet"})
    libraries = [library("libdemo.so"), library("libdemo_more.so.1")]
    stages = [make_stage(tmp_path / "stage", {"core": libraries}, rid) for rid in ("linux-x64", "linux-arm64")]

    made = pack_nupkg(config, "core", stages, tmp_path / "dist", managed=managed)

    assert made.path.name == "Demo.0.1.0.nupkg"
    assert names(made) == {
        "lib/netstandard2.0/Demo.dll",
        "lib/netstandard2.0/Demo.xml",
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

    assert nuspec.dependencies == (Dependency(id="Demo", range="[0.1.0, 0.2.0-0)"),)
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
        pack_nupkg(make_config(tmp_path, core=core), "core", [stage], tmp_path, managed=None if core else managed)


def test_a_component_without_a_library_makes_no_package(tmp_path, library):
    stage = make_stage(tmp_path / "stage", {"extra": [library("libextra.so")]})

    with pytest.raises(BuildError, match="installed no shared library"):
        pack_nupkg(make_config(tmp_path), "core", [stage], tmp_path / "dist")
    with pytest.raises(BuildError, match="no target is staged"):
        pack_nupkg(make_config(tmp_path), "core", [], tmp_path / "dist")

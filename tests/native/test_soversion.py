"""CMake's VERSION and SOVERSION: packages hold a library once, by its SONAME; the SDK keeps the links."""

import ctypes
import stat
import tarfile

import pytest

from latebind.config.file import load
from latebind.ecosystems.plugin.pack import plugin_files
from latebind.errors import BuildError
from loadcheck.api import Policy, audit_paths
from tests.support import epclient
from tests.support.client import hashes, members, pack_project, stage_project
from tests.support.running import CLI, assert_success, run_program
from tests.support.sdkclient import SDK, WITH_HEADER, write_sdk_client

PROPERTIES = "VERSION 1.2.3 SOVERSION 1"
CMAKE = WITH_HEADER.replace("PRESET hidden", f"PRESET hidden {PROPERTIES}")
CONFIG = SDK.replace('["linux-x64"]', '["linux-x64", "osx-arm64"]') + 'npm = { name = "tiny" }\n'
NAMES = {"linux-x64": "libtiny.so.1", "osx-arm64": "libtiny.1.dylib"}


def write_versioned(folder):
    return write_sdk_client(folder, cmake=CMAKE, latebind=CONFIG)


@pytest.fixture(scope="module")
def pack_result(tmp_path_factory):
    return pack_project(write_versioned(tmp_path_factory.mktemp("versioned") / "tiny"))


@pytest.fixture(scope="module")
def files(pack_result):
    return {artifact.path.name: artifact.path for artifact in pack_result.artifacts}


def names(package):
    return sorted(name for name in members(package) if "libtiny." in name)


@pytest.mark.parametrize(
    ("package", "holds"),
    [
        ("tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl", ["tiny/libtiny.so.1"]),
        ("tiny-1.2.3-py3-none-macosx_11_0_arm64.whl", ["tiny/libtiny.1.dylib"]),
        ("Tiny.1.2.3.nupkg", [f"runtimes/{rid}/native/{name}" for rid, name in NAMES.items()]),
        ("tiny-linux-x64-1.2.3.tgz", ["package/libtiny.so.1"]),
        ("tiny-darwin-arm64-1.2.3.tgz", ["package/libtiny.1.dylib"]),
    ],
)
def test_a_package_holds_the_library_once_by_its_soname(files, package, holds):
    assert names(files[package]) == holds


def test_the_sdk_keeps_the_links(files):
    with tarfile.open(files["tiny-1.2.3-linux-x64-sdk.tar.gz"]) as tar:
        links = {member.name.rpartition("/")[2]: member.linkname for member in tar if "libtiny." in member.name}
    assert links == {"libtiny.so": "libtiny.so.1.2.3", "libtiny.so.1": "libtiny.so.1.2.3", "libtiny.so.1.2.3": ""}


def test_other_packages_name_the_file_that_is_there(files, tmp_path):
    main = members(files["tiny-1.2.3.tgz"])["package/latebind.cjs"].decode()
    bill = members(files["tiny-linux-x64-1.2.3.tgz"])["package/latebind.cdx.json"].decode()
    assert [name in main for name in NAMES.values()] == [True, True]
    assert "libtiny.so.1.2.3" not in main + bill
    library = tmp_path / "libtiny.so.1"
    library.write_bytes(members(files["tiny-linux-x64-1.2.3.tgz"])["package/libtiny.so.1"])
    assert ctypes.CDLL(str(library)).tiny_add(0, 1) == 3


@pytest.mark.builds
def test_the_audit_objects_to_none_and_equal_inputs_give_equal_packages(pack_result, files, tmp_path):
    report = audit_paths(list(files.values()), Policy())
    assert not [finding for finding in report.findings if finding.severity != "note"], report.findings
    assert hashes(pack_project(write_versioned(tmp_path / "again"))) == hashes(pack_result)


@pytest.mark.builds
def test_the_build_names_the_file_and_the_links_that_packages_lack(tmp_path):
    folder = write_versioned(tmp_path / "tiny")
    ended = run_program(*CLI, "build", "--target", "linux-x64", cwd=folder)
    assert "packages contain libtiny.so.1, the library's SONAME, but not the links to it: libtiny.so, " in ended.stderr
    assert "CMAKE_PLATFORM_NO_VERSIONED_SONAME = true" in ended.stderr


@pytest.mark.builds
def test_cmake_ignores_the_versions_if_a_definition_says_so(tmp_path):
    config = CONFIG.replace("[native]", "[native]\ndefine = { CMAKE_PLATFORM_NO_VERSIONED_SONAME = true }")
    folder = write_sdk_client(tmp_path / "tiny", cmake=CMAKE, latebind=config)
    ended = run_program(*CLI, "build", "--target", "linux-x64", cwd=folder)
    assert_success(ended)
    assert "packages hold" not in ended.stderr
    assert [path.name for path in (folder / "stage/linux-x64/tiny/lib").iterdir()] == ["libtiny.so"]


@pytest.mark.builds
def test_a_library_that_loses_its_version_replaces_the_link_of_an_earlier_build(tmp_path):
    folder = write_versioned(tmp_path / "tiny")
    stage_project(folder, "osx-arm64")
    config = CONFIG.replace("[native]", "[native]\ndefine = { CMAKE_PLATFORM_NO_VERSIONED_SONAME = true }")
    (folder / "latebind.toml").write_text(config, encoding="utf-8")

    stage = stage_project(folder, "osx-arm64")

    assert [path.name for path in stage.libraries("tiny")] == ["libtiny.dylib"]


def test_advice_for_a_component_that_installs_only_a_static_library(tmp_path):
    folder = write_sdk_client(tmp_path / "tiny", cmake=CMAKE.replace("SHARED", "STATIC"))

    with pytest.raises(BuildError, match="installed no shared library for linux-x64") as caught:
        stage_project(folder)

    assert "It installed libtiny.a. Write add_library(... SHARED)" in str(caught.value.advice)


def test_copies_from_another_machine_count_as_links(tmp_path):
    folder = write_versioned(tmp_path / "tiny")
    stage = stage_project(folder)
    for path in stage.library_names("tiny"):
        data = path.read_bytes()
        path.unlink()
        path.write_bytes(data)
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    assert [path.name for path in stage.libraries("tiny")] == ["libtiny.so.1"]
    assert len(stage.library_names("tiny")) == 3


def test_equal_libraries_with_other_names_are_kept(tmp_path):
    copy = "install(FILES $<TARGET_FILE:tiny> DESTINATION lib COMPONENT tiny RENAME libother.so)\n"
    folder = write_sdk_client(tmp_path / "tiny", cmake=f"{CMAKE}{copy}")
    stage = stage_project(folder)
    assert [path.name for path in stage.libraries("tiny")] == ["libother.so", "libtiny.so.1"]


def test_links_are_no_companions_of_an_execution_provider(tmp_path):
    cmake = f"{epclient.CMAKE}set_target_properties(tiny_ep PROPERTIES {PROPERTIES})\n"
    config = epclient.CONFIG.replace("vendor =", 'companions = ["*.so*"], vendor =')
    folder = epclient.write_ep(tmp_path / "tiny", cmake=cmake, config=config)
    files = plugin_files(load(folder / "latebind.toml"), "tiny", stage_project(folder))
    assert [path.name for path in files] == ["libtiny_ep.so.1"]

"""What the packages of a release are found to hold."""

import json

import pytest

from corpus.packages import Compiler
from latebind.backend.targets import npm_platform
from latebind.errors import InputError
from latebind.release.packages import read_packages
from latebind.system.archive import Entry, write_tar, write_zip
from latebind.system.files import sha256
from tests.support.client import pack_project, write_portable
from tests.support.sdkclient import SDK, write_sdk_client


@pytest.mark.slow
@pytest.mark.parametrize("rid", ["osx-arm64", "win-x64"])
def test_libraries_of_every_system_are_seen_in_wheel_and_nupkg(tmp_path, rid):
    root = write_portable(tmp_path / "tiny", [rid])
    pack_project(root)
    packages = {package.artifact.kind: package for package in read_packages(root / "dist")}
    for kind in ("wheel", "nupkg"):
        assert packages[kind].targets == (rid,)
        assert packages[kind].exports == {"tiny": {rid: ("tiny_add",)}}
    assert packages["sdist"].targets == ()


@pytest.mark.builds
@pytest.mark.parametrize("rid", ["linux-x64", "linux-musl-x64", "osx-arm64"])
def test_an_npm_package_is_for_the_target_that_its_fields_choose(tmp_path, rid):
    platform = npm_platform(rid)
    root = write_portable(tmp_path / "tiny", [rid], npm="@acme/tiny")
    pack_project(root)
    packages = {package.name: package for package in read_packages(root / "dist") if package.artifact.kind == "npm"}
    part, main = packages[f"@acme/tiny-{platform.name}"], packages["@acme/tiny"]
    assert (part.version, part.targets, part.exports) == ("1.2.3", (rid,), {"tiny": {rid: ("tiny_add",)}})
    assert (main.targets, main.exports) == ((), {})
    assert part.bill_file == f"{part.artifact.path.name}.cdx.json"


def test_a_tarball_without_package_json_is_refused(tmp_path):
    write_tar(tmp_path / "tiny-1.2.3.tgz", [Entry(name="package/index.js", data=b"")])
    with pytest.raises(InputError, match=r"has no valid package/package\.json"):
        read_packages(tmp_path)


def test_symbols_of_a_prerelease_are_recognized(tmp_path):
    name = "tiny-1.0.0-rc.1-linux-musl-x64-symbols.zip"
    write_zip(tmp_path / "symbols" / name, [Entry(name="symbols.json", data=b"{}")])
    (package,) = read_packages(tmp_path)
    assert (package.artifact.kind, package.version, package.targets) == ("symbols", "1.0.0-rc.1", ("linux-musl-x64",))


@pytest.mark.builds
@pytest.mark.parametrize("rid", ["linux-x64", "win-x64"])
def test_an_sdk_is_recognized_with_its_sbom_exports_and_headers(tmp_path, rid):
    root = write_sdk_client(tmp_path / "tiny", latebind=SDK.replace("linux-x64", rid))
    pack_project(root)
    (sdk,) = [package for package in read_packages(root / "dist") if package.artifact.kind == "sdk"]
    assert sdk.exports == {"tiny": {rid: ("tiny_add",)}}
    assert "tiny_add" in sdk.headers["tiny.h"]
    assert (sdk.name, sdk.version, sdk.targets) == ("tiny", "1.2.3", (rid,))
    assert sdk.bill_file == f"{sdk.artifact.path.name}.cdx.json"
    assert json.loads(sdk.bill)["metadata"]["component"]["purl"] == "pkg:generic/tiny@1.2.3"


def test_any_other_file_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is not a package of a release"):
        read_packages(tmp_path)


BILL = {"bomFormat": "CycloneDX", "components": [], "metadata": {"component": {}, "tools": {"components": []}}}


def test_what_a_package_holds_is_told_by_its_bytes_and_folders(tmp_path, monkeypatch):
    monkeypatch.setattr("latebind.release.packages.read_sbom", lambda data, _: json.loads(data))
    library = Compiler(tmp_path).library("int b_two(void) { return 2; } int a_one(void) { return 1; }").read_bytes()
    runtimes, bill = "runtimes/linux-x64/native", json.dumps(BILL).encode()
    members = {
        "Tiny.nuspec": b"<package/>",
        f"{runtimes}/libtiny.so": library,
        f"{runtimes}/notes.txt": b"no library",
        f"{runtimes}/deep/libdeep.so": library,  # nothing loads it from there
        "runtimes/haiku-x64/native/libodd.so": library,
        "build/libelsewhere.so": library,
        "build/native/include/tiny/tiny.h": b"int a_one(void);\xff",
        "build/native/other.h": b"int no;",
        "_manifest/latebind.cdx.json": bill,
    }
    (tmp_path / "dist").mkdir()
    write_zip(tmp_path / "dist/Tiny.1.2.3.nupkg", [Entry(name=name, data=data) for name, data in members.items()])
    (tmp_path / "dist/.record").write_text("", encoding="utf-8")
    (package,) = read_packages(tmp_path / "dist")
    assert (package.name, package.version, package.targets) == ("Tiny", "1.2.3", ("linux-x64",))
    assert package.exports == {"tiny": {"linux-x64": ("a_one", "b_two")}}
    assert (package.bill, package.bill_file) == (bill, "Tiny.1.2.3.nupkg.cdx.json")
    assert package.headers == {"tiny/tiny.h": "int a_one(void);\ufffd"}
    file = tmp_path / "dist/Tiny.1.2.3.nupkg"
    assert (package.artifact.sha256, package.artifact.size) == (sha256(file), file.stat().st_size)


def test_a_wheel_is_for_the_targets_of_its_name_if_it_has_a_library(tmp_path):
    library = Compiler(tmp_path).library("int a_one(void) { return 1; }").read_bytes()
    (tmp_path / "dist").mkdir()
    for name, files in {
        "native-1.0-py3-none-manylinux_2_28_x86_64.whl": {"native/libtiny.so.1": library},
        "pure-1.0-py3-none-manylinux_2_28_x86_64.whl": {"pure/x.py": b""},
    }.items():
        write_zip(tmp_path / "dist" / name, [Entry(name=path, data=data) for path, data in files.items()])
    native, pure = read_packages(tmp_path / "dist")
    assert (native.targets, native.exports) == (("linux-x64",), {"tiny": {"linux-x64": ("a_one",)}})
    assert (pure.targets, pure.exports) == ((), {})


def test_packages_are_in_a_folder(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        read_packages(tmp_path / "none")

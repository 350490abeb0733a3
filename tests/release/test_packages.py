"""What the packages of a release are found to hold."""

import json

import pytest
from latebind.errors import InputError
from latebind.release.packages import read_packages
from latebind.system.archive import Entry, write_zip

from tests.client import packed, write_portable
from tests.sdkclient import SDK, write_sdk_client


@pytest.mark.parametrize("rid", ["osx-arm64", "win-x64"])
def test_libraries_of_every_system_are_seen_in_wheel_and_nupkg(tmp_path, rid):
    root = write_portable(tmp_path / "tiny", [rid])
    packed(root)
    found = {row.artifact.kind: row for row in read_packages(root / "dist")}
    for kind in ("wheel", "nupkg"):
        assert found[kind].targets == (rid,)
        assert found[kind].exports == {"tiny": {rid: ("tiny_add",)}}
    assert found["sdist"].targets == ()


def test_symbols_of_a_prerelease_are_recognized(tmp_path):
    name = "tiny-1.0.0-rc.1-linux-musl-x64-symbols.zip"
    write_zip(tmp_path / "symbols" / name, [Entry(name="symbols.json", data=b"{}")])
    (found,) = read_packages(tmp_path)
    assert (found.artifact.kind, found.version, found.targets) == ("symbols", "1.0.0-rc.1", ("linux-musl-x64",))


@pytest.mark.parametrize("rid", ["linux-x64", "win-x64"])
def test_an_sdk_is_recognized_with_its_sbom(tmp_path, rid):
    root = write_sdk_client(tmp_path / "tiny", latebind=SDK.replace("linux-x64", rid))
    packed(root)
    (found,) = [row for row in read_packages(root / "dist") if row.artifact.kind == "sdk"]
    assert (found.name, found.version, found.targets) == ("tiny", "1.2.3", (rid,))
    assert found.bill_file == f"{found.artifact.path.name}.cdx.json"
    assert json.loads(found.bill)["metadata"]["component"]["purl"] == "pkg:generic/tiny@1.2.3"


def test_any_other_file_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="is not a package of a release"):
        read_packages(tmp_path)

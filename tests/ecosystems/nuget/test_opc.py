from __future__ import annotations

import dataclasses
import hashlib
import string
import zipfile

import defusedxml.ElementTree
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latebind.ecosystems.nuget.nuspec import Nuspec
from latebind.ecosystems.nuget.opc import CONTENT_TYPES, RELATIONSHIPS, write_nupkg
from latebind.errors import InputError
from latebind.system.archive import Entry

NUSPEC = Nuspec(id="Demo", version="1.0.0", authors=("A & B",), description="<d>", frameworks=(), tags=("k",))
TYPES = "{http://schemas.openxmlformats.org/package/2006/content-types}"
RELATIONS = "{http://schemas.openxmlformats.org/package/2006/relationships}"

segments = st.text(st.sampled_from(string.ascii_letters + string.digits + " .+-_~é#[]"), min_size=1, max_size=8).filter(
    lambda text: text.strip() == text.rstrip(".") == text and text.lower() not in ("_rels", "package")
)
paths = st.lists(segments, min_size=1, max_size=4).map("/".join)
file_sets = st.dictionaries(paths, st.binary(max_size=40), max_size=8).filter(
    lambda files: (
        len({name.casefold() for name in (*files, "Demo.nuspec")}) == len(files) + 1
        and CONTENT_TYPES.lower() not in {name.lower() for name in files}
    )
)


def write(path, files, nuspec=b"<package/>"):
    write_nupkg(path, NUSPEC, nuspec, [Entry(name=name, data=data) for name, data in files.items()])
    return path.read_bytes()


@given(file_sets)
def test_every_file_comes_back_under_its_name_and_every_part_has_a_type(tmp_path_factory, files):
    path = tmp_path_factory.mktemp("opc") / "a.nupkg"

    write(path, files)

    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        stored = {name: archive.read(name) for name in names}
        types = defusedxml.ElementTree.fromstring(archive.read(CONTENT_TYPES))
    assert {name: stored[name] for name in files} == files
    defaults = {element.get("Extension") for element in types.iter(f"{TYPES}Default")}
    overrides = {element.get("PartName") for element in types.iter(f"{TYPES}Override")}
    for name in set(names) - {CONTENT_TYPES}:
        extension = name.rpartition("/")[2].rpartition(".")[2].lower() if "." in name.rpartition("/")[2] else None
        assert extension in defaults or f"/{name}" in overrides


@given(file_sets, st.randoms())
def test_equal_files_in_any_order_give_equal_bytes(tmp_path_factory, files, random):
    folder = tmp_path_factory.mktemp("opc")
    shuffled = list(files.items())
    random.shuffle(shuffled)

    assert write(folder / "a.nupkg", files) == write(folder / "b.nupkg", dict(shuffled))


def test_parts_are_sorted_after_those_that_readers_look_for_first(tmp_path):
    write(tmp_path / "a.nupkg", {"z.txt": b"", "a.txt": b"", "lib/x.dll": b""})

    names = zipfile.ZipFile(tmp_path / "a.nupkg").namelist()

    assert names[:3] == [CONTENT_TYPES, RELATIONSHIPS, "Demo.nuspec"]
    assert names[3:] == sorted(names[3:])


def test_time_and_mode_do_not_depend_on_now(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")

    write(tmp_path / "a.nupkg", {"a.txt": b"1"})

    infos = zipfile.ZipFile(tmp_path / "a.nupkg").infolist()
    assert {info.date_time for info in infos} == {(2020, 9, 13, 12, 26, 40)}
    assert {info.external_attr >> 16 for info in infos} == {0o100644}


VERSIONS = [
    *("0.1.0-0.dev.1", "0.1.0-alpha.1", "0.1.0-alpha.2", "0.1.0-beta.1", "0.1.0-rc.1", "0.1.0", "0.1.0.1", "0.1.1"),
    *("0.2.0", "0.99.99", "1.0.0-rc.1", "1.0.0", "9.9.9", "2026.11.20", "2026.12.1"),
]


def test_files_of_a_later_version_are_later_so_that_they_replace_those_of_an_earlier_one(tmp_path, monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    times = []
    for version in VERSIONS:
        nuspec = dataclasses.replace(NUSPEC, version=version)
        write_nupkg(tmp_path / "a.nupkg", nuspec, b"<package/>", [Entry(name="a.txt", data=b"1")])
        (time,) = {info.date_time for info in zipfile.ZipFile(tmp_path / "a.nupkg").infolist()}
        times.append(time)
    assert times == sorted(set(times))
    assert times[0] > (2020, 1, 1, 0, 0, 0)
    assert times[-1] < (2107, 12, 31, 23, 59, 58)


def test_relationships_point_to_nuspec_and_core_properties(tmp_path):
    write(tmp_path / "a.nupkg", {}, nuspec=b"<package>1</package>")

    archive = zipfile.ZipFile(tmp_path / "a.nupkg")
    root = defusedxml.ElementTree.fromstring(archive.read(RELATIONSHIPS))
    targets = {
        relation.get("Type").rpartition("/")[2]: relation.get("Target")
        for relation in root.iter(f"{RELATIONS}Relationship")
    }
    identity = hashlib.sha256(b"<package>1</package>").hexdigest()[:32]
    assert targets == {
        "manifest": "/Demo.nuspec",
        "core-properties": f"/package/services/metadata/core-properties/{identity}.psmdcp",
    }
    assert {target[1:] for target in targets.values()} <= set(archive.namelist())


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (["../a"], "not a plain relative path"),
        (["/a"], "not a plain relative path"),
        (["a//b"], "not a plain relative path"),
        (["a\\b"], "not a plain relative path"),
        (["a\nb"], "some systems or NuGet cannot unpack"),
        (["lib/a%20b.txt"], "some systems or NuGet cannot unpack"),
        (["a:b"], "some systems or NuGet cannot unpack"),
        (["a./b"], "some systems or NuGet cannot unpack"),
        (["a "], "some systems or NuGet cannot unpack"),
        ([""], "not a plain relative path"),
        (["_rels/x"], "NuGet or OPC reserves for its own parts"),
        (["package/x"], "NuGet or OPC reserves for its own parts"),
        (["[content_types].xml"], "NuGet or OPC reserves for its own parts"),
        (["a", "a"], "is in the package twice"),
        (["lib/Vx.dll", "lib/vx.dll"], "only by case"),
        (["demo.nuspec"], "only by case"),
    ],
)
def test_a_name_that_breaks_the_container_is_refused_and_nothing_is_written(tmp_path, names, says):
    with pytest.raises(InputError, match=says):
        write_nupkg(tmp_path / "a.nupkg", NUSPEC, b"", [Entry(name=name, data=b"") for name in names])

    assert list(tmp_path.iterdir()) == []

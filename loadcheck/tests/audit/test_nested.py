"""The files of an AAR in a nupkg or a JAR are read, within the limits of the package around it."""

import io
import zipfile

import pytest

from corpus.packages import write
from loadcheck import archive
from loadcheck.audit import audit_here
from loadcheck.formats import find_format, iter_members

AAR = "runtimes/android/native/tiny.aar"
INNER = "jni/arm64-v8a/libtiny.so"


def make_zip(files):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, content in files:
            opened.writestr(name, content)
    return data.getvalue()


def list_found(report):
    return {(row.code, row.subject.partition("!")[2]) for row in report.findings}


@pytest.fixture
def aar(bench):
    library = bench.compiler.library("int tiny(void) { return 1; }\n", "-nostdlib", target="aarch64-linux-android.29")
    return make_zip(
        [("AndroidManifest.xml", b"<manifest/>"), ("classes.jar", make_zip([])), (INNER, library.read_bytes())]
    )


@pytest.mark.parametrize("place", [AAR, "lib/net9.0-android35.0/tiny.aar"])
def test_no_rule_of_places_applies_inside(bench, aar, place):
    types = ("rels", "psmdcp", "nuspec", "so", "dll", "aar")
    alone = audit_here(bench.nupkg({place: b"no archive"}, types=types))
    report = audit_here(bench.nupkg({place: aar}, types=types))
    assert {row for row in list_found(alone) if row[1] == place} == {("LB601", place)}
    assert {row for row in list_found(report) if place in row[1] and row[0] != "LB612"} == set()


def test_a_library_inside_is_judged(bench):
    damaged = make_zip([(INNER, bench.good()[:300])])
    path = write(bench.folder / "tiny-1.2.3.jar", {"libs/tiny.AAR": damaged})
    assert ("LB604", f"libs/tiny.AAR/{INNER}") in list_found(audit_here([path]))
    assert ("LB604", f"{AAR}/{INNER}") in list_found(audit_here(bench.nupkg({AAR: damaged})))


def test_an_archive_in_an_archive_in_a_package_is_a_file(bench):
    deep = make_zip([("libs/deep.aar", make_zip([(INNER, bench.good()[:300])]))])
    assert "LB604" not in {code for code, _ in list_found(audit_here(bench.nupkg({AAR: deep})))}


def test_members_of_a_package_are_those_that_it_stores_itself(bench, aar):
    (path,) = bench.nupkg({AAR: aar})
    assert [name for name, _ in iter_members(path, find_format(path.name)) if "aar" in name] == [AAR]


def make_larger_than_stated():
    data = bytearray(make_zip([("a", b"\0" * 1000)]))
    at = data.rfind(b"PK\1\2")
    data[at + 24 : at + 28] = (3_000_000_000).to_bytes(4, "little")
    return bytes(data)


HOSTILE = {
    "no archive": (b"PK\3\4", "LB601", AAR),
    "nothing": (b"", "LB601", AAR),
    "a path that leaves": (make_zip([("../../a", b"1")]), "LB602", f"{AAR}/../../a"),
    "a bomb": (make_larger_than_stated(), "LB602", f"{AAR}/a"),
}


@pytest.mark.parametrize(("data", "code", "subject"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_archive_is_reported(bench, data, code, subject):
    assert (code, subject) in list_found(audit_here(bench.nupkg({AAR: data})))


def test_a_name_that_the_package_stores_itself_is_a_duplicate(bench, aar):
    (path,) = bench.nupkg({AAR: aar, f"{AAR}/{INNER}": bench.good()})
    assert ("LB602", f"{AAR}/{INNER}") in list_found(audit_here([path]))


def test_the_limits_are_those_of_the_package(bench, monkeypatch):
    many = make_zip([(f"a{number}", b"1") for number in range(30)])
    (path,) = bench.nupkg({AAR: many})
    monkeypatch.setattr(archive, "MAX_MEMBERS", 35)
    assert ("LB601", AAR) in list_found(audit_here([path]))


def test_archives_that_expand_twice_are_a_bomb(bench, monkeypatch):
    monkeypatch.setattr(archive, "BOMB_BYTES", 100_000)
    layer = make_zip([(f"a{number}", b"\0" * 100_000) for number in range(100)])
    (path,) = bench.nupkg({AAR: layer})
    assert path.stat().st_size < len(layer)
    assert {code for code, subject in list_found(audit_here([path])) if subject.startswith(f"{AAR}/")} == {"LB602"}

"""`latebind sbom`: an SBOM in any wheel, with what was copied and linked into it; nothing else of the wheel changes."""

import json
import shutil
import sys
import zipfile

import pytest

from latebind.backend.wheelfile import record_digest
from latebind.inventory import find_contents, read_part
from latebind.system.files import sha256
from loadcheck.api import audit_here
from tests.native.test_bill import FORMATS, lacks_minimum
from tests.support.client import members, rewritten
from tests.support.needs import zig
from tests.support.running import assert_refused, run_checked, run_program

SOURCE = """\
const char zlib[] = " deflate 1.3.1 Copyright 1995-2024 Jean-loup Gailly and Mark Adler ";
const char proto[] = "google/protobuf/descriptor.proto";
int PyInit_thing(void) { return 0; }
__asm__(".pushsection .note.dlopen,\\"a\\"\\n.balign 4\\n.long 4, 2f - 1f, 0x407c0c0a\\n.asciz \\"FDO\\"\\n"
     "1: .asciz \\"[{\\\\\\"soname\\\\\\":[\\\\\\"libodd.so.1\\\\\\"],\\\\\\"feature\\\\\\":\\\\\\"odd\\\\\\"}]\\"\\n"
        "2:\\n.balign 4\\n.popsection");
"""
METADATA = "Metadata-Version: 2.4\nName: Some.Thing\nVersion: 1.0\nAuthor-email: Somebody <some@example.org>\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\nTag: py3-none-manylinux_2_28_x86_64\n"
INFO = "some_thing-1.0.dist-info"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel with a module that a real compiler made, and a library as auditwheel copies it."""
    folder = tmp_path_factory.mktemp("any")
    (folder / "thing.c").write_text(SOURCE, encoding="utf-8")
    run_checked(*zig("linux-x64"), "-shared", "-fPIC", "-o", folder / "thing.so", folder / "thing.c")
    shutil.copy(folder / "thing.so", folder / "libpng16-1d1ba958.so.16.58.0")
    path = folder / "some_thing-1.0-py3-none-manylinux_2_28_x86_64.whl"
    files = {
        "thing/thing.so": (folder / "thing.so").read_bytes(),
        "some_thing.libs/libpng16-1d1ba958.so.16.58.0": (folder / "libpng16-1d1ba958.so.16.58.0").read_bytes(),
        f"{INFO}/METADATA": METADATA.encode(),
        f"{INFO}/WHEEL": WHEEL.encode(),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2001, 2, 3, 4, 5, 6)), data)
        archive.writestr(f"{INFO}/RECORD", record(files))
    return path


def record(files):
    lines = [f"{name},{record_digest(data)},{len(data)}\n" for name, data in files.items()]
    return "".join([*lines, f"{INFO}/RECORD,,\n"])


def sbom(*arguments):
    return run_program(sys.executable, "-m", "latebind.cli", "sbom", *arguments)


def document(folder, name="latebind.cdx.json"):
    (wheel,) = folder.glob("*.whl")
    return json.loads(members(wheel)[f"{INFO}/sboms/{name}"])


def test_it_lists_files_copied_libraries_and_static_parts(wheel, tmp_path):
    done = sbom(wheel, "--output", tmp_path)

    assert done.returncode == 0, done.stderr
    assert "contains protobuf, but its version is unknown" in done.stderr
    bill = document(tmp_path)
    components = {component["name"]: component for component in bill["components"]}
    assert components["zlib"]["version"] == "1.3.1"
    assert components["libodd.so.1"]["scope"] == "optional"
    assert components["some_thing.libs/libpng16-1d1ba958.so.16.58.0"]["version"] == "16.58.0"
    assert components["thing/thing.so"]["hashes"][0]["alg"] == "SHA-256"
    assert bill["metadata"]["supplier"] == {"name": "Somebody"}
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/some-thing@1.0"


@pytest.mark.parametrize("name", ["cyclonedx-1.6", "cyclonedx-1.7"])
def test_it_is_valid_and_has_the_minimum_elements_once_versions_are_known(name, wheel, tmp_path):
    done = sbom(wheel, "--output", tmp_path, "--format", name, "--part", "protobuf@5.29=Google")
    assert done.stderr == ""
    bill = document(tmp_path)
    assert not FORMATS["" if name == "cyclonedx-1.6" else name](bill)
    assert not lacks_minimum(bill)


def test_without_a_version_the_minimum_elements_are_not_met(wheel, tmp_path):
    sbom(wheel, "--output", tmp_path)
    assert lacks_minimum(document(tmp_path))


def test_a_named_part_that_no_file_shows_belongs_to_the_package(wheel, tmp_path):
    sbom(wheel, "--output", tmp_path, "--part", "ujson@5.10")
    bill = document(tmp_path)
    (itself,) = [edge for edge in bill["dependencies"] if edge["ref"] == "pkg:pypi/some-thing@1.0"]
    assert "part/ujson@5.10" in itself["dependsOn"]


def test_everything_else_keeps_its_bytes_and_times_and_a_second_run_gives_the_same(wheel, tmp_path):
    before = sha256(wheel)
    for folder in ("a", "b"):
        sbom(wheel, "--output", tmp_path / folder)
    (first,), (again,) = (tmp_path / "a").glob("*.whl"), (tmp_path / "b").glob("*.whl")
    assert sha256(first) == sha256(again)
    assert sha256(wheel) == before
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(first) as new:
        assert new.testzip() is None
        for info in old.infolist():
            if not info.filename.endswith("RECORD"):
                assert new.read(info.filename) == old.read(info.filename)
                assert new.getinfo(info.filename).date_time == info.date_time
        assert set(new.namelist()) - set(old.namelist()) == {f"{INFO}/sboms/latebind.cdx.json"}
    assert not [finding for finding in audit_here([first]).findings if finding.code == "LB501"]


def test_record_lists_the_sbom_and_a_wrong_hash_would_be_found(wheel, tmp_path):
    sbom(wheel, "--output", tmp_path)
    (output,) = tmp_path.glob("*.whl")
    assert f"{INFO}/sboms/latebind.cdx.json,sha256=" in members(output)[f"{INFO}/RECORD"].decode()

    def spoil(name, data):
        return name, data.replace(b"Somebody", b"Nobodies") if name.endswith(".cdx.json") else data

    spoilt = rewritten(output, tmp_path / "spoilt", spoil)
    assert any(".cdx.json" in str(finding) for finding in audit_here([spoilt]).findings)


@pytest.mark.parametrize(("declared", "stated"), [("mit", "MIT"), ("my own", None)])
def test_the_license_is_stated_where_it_is_an_expression(declared, stated, wheel, tmp_path):
    def add_license(name, data):
        return name, data + f"License-Expression: {declared}\n".encode() if name.endswith("METADATA") else data

    sbom(rewritten(wheel, tmp_path / "given", add_license), "--output", tmp_path / "out", "--part", "protobuf@1")
    bill = document(tmp_path / "out")
    assert bill["metadata"]["component"].get("licenses") == (stated and [{"expression": stated}])
    assert not FORMATS[""](bill)


def with_file(wheel, folder, name):
    return rewritten(wheel, folder, add=[(f"{INFO}/{name}", b"{}")])


@pytest.mark.parametrize(
    ("name", "says"), [("sboms/auditwheel.cdx.json", "has an SBOM already"), ("RECORD.jws", "is signed")]
)
def test_a_wheel_that_is_signed_or_has_an_sbom_takes_force(name, says, wheel, tmp_path):
    source = with_file(wheel, tmp_path / "given", name)
    assert_refused(sbom(source, "--output", tmp_path / "out"), says, "--force")
    assert not (tmp_path / "out").exists()
    assert sbom(source, "--output", tmp_path / "out", "--force").returncode == 0
    (output,) = (tmp_path / "out").glob("*.whl")
    assert (f"{INFO}/{name}" in members(output)) is name.startswith("sboms/")


def test_force_replaces_its_own_sbom_also_in_place(wheel, tmp_path):
    shutil.copy(wheel, tmp_path)
    copy = tmp_path / wheel.name
    before = sha256(copy)
    assert_refused(sbom(copy, "--output", tmp_path), "would be replaced by the new wheel", "--force")
    assert sha256(copy) == before
    assert sbom(copy, "--output", tmp_path, "--force").returncode == 0
    first = sha256(copy)
    assert sbom(copy, "--output", tmp_path, "--force").returncode == 0
    assert sha256(copy) == first


def rename_to(name):
    """Makes a copy of a wheel with another name."""

    def make(wheel, folder):
        folder.mkdir()
        return shutil.copy(wheel, folder / name)

    return make


def leave_out(part):
    """Makes a wheel without the members whose names have a part."""
    return lambda wheel, folder: rewritten(wheel, folder, lambda *entry: None if part in entry[0] else entry)


BAD = {
    "no wheel": (rename_to("thing.zip"), "is not the name of a wheel"),
    "another name": (rename_to("other-1.0-py3-none-any.whl"), "METADATA names Some.Thing, but the file name has other"),
    "no zip": (lambda _, folder: text(folder / "thing-1.0-py3-none-any.whl"), "not a readable zip archive"),
    "no metadata": (leave_out("dist-info"), "has no .dist-info"),
    "no record": (leave_out("RECORD"), "has no some_thing-1.0.dist-info/RECORD"),
    "a member outside": (lambda wheel, folder: rewritten(wheel, folder, add=[("../x", b"")]), "unsafe to rewrite"),
    "a RECORD in another encoding": (
        lambda wheel, folder: rewritten(
            wheel, folder, lambda name, data: (name, b"\xff" if name.endswith("RECORD") else data)
        ),
        "cannot be written again",
    ),
}  # fmt: skip


def text(path):
    path.parent.mkdir(exist_ok=True)
    path.write_text("no zip\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_a_sound_wheel_is_refused_and_nothing_is_written(name, wheel, tmp_path):
    make, says = BAD[name]
    assert_refused(sbom(make(wheel, tmp_path / "given"), "--output", tmp_path / "out"), says)
    assert not list((tmp_path / "out").glob("*"))


@pytest.mark.parametrize("text_", ["zlib", "zlib@", "@1", "a b@1", "zlib@1="])
def test_a_part_is_a_name_and_a_version(text_, wheel, tmp_path):
    assert_refused(sbom(wheel, "--output", tmp_path, "--part", text_), "is not NAME@VERSION")


def test_a_part_takes_supplier_and_purl_from_the_table_unless_named():
    assert read_part("zlib@1.2").supplier == "Jean-loup Gailly and Mark Adler"
    assert read_part("zlib@1.2=Me").supplier == "Me"
    assert read_part("own thing@1".replace(" ", "+")).purl == "pkg:generic/own%2Bthing@1"


REAL = {
    "ansible-pylibssh==1.4.0": {"libssh": "0.12.0", "openssl": "3.5.0"},
    "onnx==1.22.0": {"protobuf": ""},
    "lxml==6.1.3": {"libxml2": "", "zlib": "1.3.2"},
}


@pytest.mark.slow
@pytest.mark.parametrize("requirement", REAL)
def test_real_wheels_show_what_was_linked_into_them(requirement, tmp_path):
    arguments = ["download", "--no-deps", "-q", "--only-binary", ":all:", "--platform", "manylinux_2_28_x86_64"]
    done = run_program(sys.executable, "-m", "pip", *arguments, "--python-version", "3.12", "-d", tmp_path, requirement)
    if done.returncode:
        pytest.skip("not run: the package index cannot be reached")
    (path,) = tmp_path.glob("*.whl")
    versions = {part.name: part.version for part in find_contents(path).bill.linked}
    assert REAL[requirement].items() <= versions.items()
    assert sbom(path, "--output", tmp_path / "out", "--force").returncode == 0
    assert not [
        finding for finding in audit_here([tmp_path / "out" / path.name]).findings if finding.severity == "error"
    ]

"""Zips are read as they are, not as they say that they are; files are replaced as a whole or not at all."""

import hashlib
import os
import stat
import struct
import sys
import zipfile

import pytest

from loadcheck import archive
from loadcheck.archive import ZipReader, replacing, write_text
from loadcheck.errors import InputError


def write_archive(path, method=zipfile.ZIP_DEFLATED, **members):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return path


def raw(path, name, data=b"x", mode=stat.S_IFREG | 0o644):
    with zipfile.ZipFile(path, "w") as file:
        info = zipfile.ZipInfo("placeholder")
        info.filename = name
        info.external_attr = mode << 16
        file.writestr(info, data)
    return path


def test_members_and_their_bytes(tmp_path):
    with ZipReader(write_archive(tmp_path / "a.zip", a=b"1", b=b"22")) as reader:
        assert [(member.name, member.size) for member in reader.members] == [("a", 1), ("b", 2)]
        assert reader.read("b") == b"22"
        assert reader.problems == []


BYTES = bytes(range(256)) * 8192


def two_members(path, data=BYTES, method=zipfile.ZIP_DEFLATED):
    return write_archive(path, method, a=data, b=data)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("data", [b"", b"x", BYTES, BYTES[:-1] + b"!"])
def test_members_are_read_in_small_blocks(tmp_path, data, method):
    with ZipReader(two_members(tmp_path / "a.zip", data, method)) as reader:
        blocks = list(reader.blocks("b"))
    assert b"".join(blocks) == data
    assert all(0 < len(block) <= 1 << 18 for block in blocks)


def test_two_members_can_be_read_in_turn(tmp_path):
    with ZipReader(two_members(tmp_path / "a.zip")) as reader:
        first, second = zip(*zip(reader.blocks("a"), reader.blocks("b"), strict=True), strict=True)
    assert b"".join(first) == b"".join(second) == BYTES


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"CRC": 1}, "Bad CRC-32"),
        ({"file_size": len(BYTES) - 1}, "is longer than"),
        ({"file_size": len(BYTES) + 1}, "the archive states"),
        ({"compress_size": 40}, "damaged member"),
        ({"compress_size": 1 << 30}, "shares its bytes"),
        ({"header_offset": 1}, "damaged member"),
        ({"orig_filename": "c"}, "another name"),
        ({"flag_bits": 0x40}, "encryption"),
    ],
)
def test_a_member_that_differs_from_the_directory_is_refused(tmp_path, changes, says):
    with ZipReader(two_members(tmp_path / "a.zip")) as reader:
        info = reader._infos["a"]
        reader._ends[changes.get("header_offset", 0)] = reader._ends[info.header_offset]
        for key, value in changes.items():
            setattr(info, key, value)
        with pytest.raises(InputError, match=says):
            reader.read("a")


def test_a_damaged_stream_is_refused(tmp_path):
    path = two_members(tmp_path / "a.zip")
    data = bytearray(path.read_bytes())
    data[31] = 0xFF  # the first byte after the local header: a block of an invalid type
    path.write_bytes(data)
    with ZipReader(path) as reader, pytest.raises(InputError, match="damaged member"):
        reader.read("a")


def test_a_member_that_lies_about_its_size_is_not_inflated_further(tmp_path):
    with ZipReader(two_members(tmp_path / "a.zip", bytes(64 << 20))) as reader:
        reader._infos["a"].file_size = 10
        with pytest.raises(InputError, match="damaged member"):
            next(reader.blocks("a"))


@pytest.mark.parametrize(
    "name",
    [
        *("../up", "a/../../up", "/abs", "a\\b", "C:/x", "C:x", "a//b", "./a"),
        *("a/./b", "..", ".", "./", "/", "a/..", "nul\0x"),
    ],
)
def test_unsafe_names_are_no_members(tmp_path, name):
    with ZipReader(raw(tmp_path / "a.zip", name)) as reader:
        assert reader.members == ()
        kinds = [problem.kind for problem in reader.problems]
        assert kinds[-1:] == ["unsafe-name"]
        assert ("streamed" in kinds) is ("\0" in name)  # programs that read from the start see all of the name


def end_with(data, counts, zip64=None, length=44):
    """An archive whose last record, and a record of zip64 before it, state these numbers of members."""
    end = data.rfind(b"PK\5\6")
    size, start = struct.unpack_from("<II", data, end + 12)
    more = b""
    if zip64:
        more = struct.pack("<4sQHHIIQQQQ", b"PK\6\6", length, 45, 45, 0, 0, *zip64, size, start)
        more += struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    return data[:end] + more + struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, *counts, size, start, 0)


UNKNOWN = (0xFFFF, 0xFFFF)


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"counts": (2, 2)}, ""),
        ({"counts": UNKNOWN, "zip64": (2, 2)}, ""),
        ({"counts": (2, 2), "zip64": (2, 2)}, ""),
        ({"counts": (3, 3), "zip64": (2, 2)}, ""),
        ({"counts": (1, 2)}, "says 1 member,"),
        ({"counts": (2, 3)}, "says 3 members"),
        ({"counts": UNKNOWN}, "says 65,535 members"),
        ({"counts": UNKNOWN, "zip64": (1, 1)}, "says 1 member,"),
        ({"counts": (2, 2), "zip64": (1, 1)}, "says 1 member,"),
        ({"counts": (2, 2), "zip64": (2, 3)}, "says 3 members"),
        ({"counts": (2, 1), "zip64": (2, 2)}, "says 1 member,"),
        ({"counts": UNKNOWN, "zip64": (2, 2), "length": 43}, "says that it has 43 bytes, not 44"),
        ({"counts": UNKNOWN, "zip64": (2, 2), "length": 45}, "says that it has 45 bytes, not 44"),
        ({"counts": (2, 2), "zip64": (2, 2), "length": 0}, "says that it has 0 bytes, not 44"),
        ({"counts": (2, 2), "zip64": (2, 2), "length": 1 << 63}, "bytes, not 44"),
    ],
    ids=str,
)
def test_last_records_that_pypi_refuses_are_problems(tmp_path, how, says):
    path = two_members(tmp_path / "a.zip", b"x")
    path.write_bytes(end_with(path.read_bytes(), **how))

    with ZipReader(path) as reader:
        problems = [(problem.kind, problem.detail) for problem in reader.problems]

    assert [kind for kind, _ in problems] == ["records"] * bool(says)
    assert all(says in detail for _, detail in problems)


@pytest.mark.parametrize(
    ("unicode_name", "is_refused"),
    [
        (b"a", False),
        ("\u00e4".encode(), False),
        (b"a\x20b", False),
        (b"a\x07", True),
        (b"a\nb", True),
        (b"a\x7f", True),
        (b"\xff", True),
    ],
)
def test_unicode_paths_that_pypi_refuses_are_problems(tmp_path, unicode_name, is_refused):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as file:
        info = zipfile.ZipInfo("a")
        # Of another name's checksum, so that no version of zipfile takes the name.
        info.extra = struct.pack("<HHBI", 0x7075, 5 + len(unicode_name), 1, 0) + unicode_name
        file.writestr(info, b"x")

    with ZipReader(path) as reader:
        assert [problem.kind for problem in reader.problems] == ["streamed"] * is_refused


def test_links_are_no_members(tmp_path):
    with ZipReader(raw(tmp_path / "a.zip", "link", b"/etc/passwd", stat.S_IFLNK | 0o777)) as reader:
        assert reader.members == ()
        assert [problem.kind for problem in reader.problems] == ["link"]


def test_a_link_without_a_target_is_the_empty_file_that_installers_make_of_it(tmp_path):
    with ZipReader(raw(tmp_path / "a.zip", "bin/npm", b"", stat.S_IFLNK | 0o777)) as reader:
        assert [member.name for member in reader.members] == ["bin/npm"]
        assert reader.read("bin/npm") == b""
        assert not reader.problems


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\5\6" + bytes(10)])
def test_what_is_no_zip_is_refused(tmp_path, data):
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    with pytest.raises(InputError, match="not a readable zip"):
        ZipReader(path)


def test_a_member_that_is_not_there_is_refused(tmp_path):
    with (
        ZipReader(write_archive(tmp_path / "a.zip", a=b"1")) as reader,
        pytest.raises(InputError, match="no such member"),
    ):
        reader.read("b")


def test_a_member_over_the_limit_is_refused(tmp_path):
    with (
        ZipReader(write_archive(tmp_path / "a.zip", a=b"12345")) as reader,
        pytest.raises(InputError, match="exceed the limit"),
    ):
        reader.read("a", limit=4)


def test_a_member_that_is_longer_than_it_says_is_refused(tmp_path):
    path = write_archive(tmp_path / "a.zip", a=b"12345" * 100)
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\1\2")
    data[at + 24 : at + 28] = (3).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with ZipReader(path) as reader, pytest.raises(InputError, match=r"damaged|holds"):
        reader.read("a")


def test_an_archive_with_too_many_members_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_MEMBERS", 1)
    with pytest.raises(InputError, match="has 2 members, but loadcheck reads at most 1"):
        ZipReader(write_archive(tmp_path / "a.zip", a=b"1", b=b"2"))


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows counts whole paths")
def test_an_error_names_the_file_that_was_asked_for(tmp_path):
    path = tmp_path / ("x" * 250)
    with pytest.raises(OSError, match="too long") as caught:
        write_text(path, "text")
    assert caught.value.filename == str(path)
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(IsADirectoryError) as caught:
        write_text(path, "text")
    assert caught.value.filename == str(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old\n")

    def fail():
        with replacing(path) as aside:
            aside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_sha256(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    assert archive.sha256(path) == hashlib.sha256(b"abc").hexdigest()


def test_no_link_that_waits_under_a_guessed_name_is_followed(tmp_path):
    (tmp_path / "victim").write_text("precious", encoding="utf-8")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / f".file.{os.getpid()}.part").symlink_to(tmp_path / "victim")
    write_text(tmp_path / "shared" / "file", "text")
    assert (tmp_path / "victim").read_text("utf-8") == "precious"
    assert (tmp_path / "shared" / "file").read_text("utf-8") == "text"

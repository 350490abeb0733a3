import io
import struct
import zipfile
import zlib

import pytest
from latebind.system.inflate import BLOCK, member_blocks

DATA = bytes(range(256)) * 8192
HEADER = 30


def archive(data=DATA, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        made.writestr("a", data)
        made.writestr("b", data)
    return file


def read(file, name="a", **changes):
    with zipfile.ZipFile(file) as opened:
        info, end = opened.getinfo(name), opened.start_dir
    for key, value in changes.items():
        setattr(info, key, value)
    return list(member_blocks(file, info, end))


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("data", [b"", b"x", DATA, DATA[:-1] + b"!"])
def test_the_bytes_are_zipfile_s(data, method):
    blocks = read(archive(data, method), "b")
    assert b"".join(blocks) == data
    assert all(0 < len(block) <= BLOCK for block in blocks)


def test_two_members_may_be_read_in_turn():
    file = archive()
    with zipfile.ZipFile(file) as opened:
        both = [member_blocks(file, info, opened.start_dir) for info in opened.infolist()]
    first, second = map(list, zip(*zip(*both, strict=True), strict=True))
    assert b"".join(first) == b"".join(second) == DATA


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"CRC": 1}, zipfile.BadZipFile, "Bad CRC-32"),
        ({"file_size": len(DATA) - 1}, zipfile.BadZipFile, "holds more than"),
        ({"file_size": len(DATA) + 1}, zipfile.BadZipFile, "the directory says"),
        ({"compress_size": 40}, EOFError, "end too early"),
        ({"compress_size": 1 << 30}, zipfile.BadZipFile, "shares its bytes"),
        ({"header_offset": 1}, zipfile.BadZipFile, "Bad magic"),
        ({"header_offset": 1 << 30}, struct.error, "requires a buffer"),
        ({"orig_filename": "c"}, zipfile.BadZipFile, "differ"),
        ({"flag_bits": 0x40}, NotImplementedError, "encryption"),
    ],
)
def test_a_member_that_is_not_what_the_directory_says_is_refused(changes, error, says):
    with pytest.raises(error, match=says):
        read(archive(), **changes)


def test_a_damaged_stream_is_refused():
    file = archive()
    file.getbuffer()[HEADER + 1] = 0xFF  # the first byte of the data: a block of a type that there is not
    with pytest.raises((zlib.error, zipfile.BadZipFile)):
        read(file)


def test_a_member_that_lies_about_its_size_is_not_inflated_on():
    file = archive(bytes(64 << 20))
    with zipfile.ZipFile(file) as opened:
        info, end = opened.getinfo("a"), opened.start_dir
    info.file_size = 10
    blocks = member_blocks(file, info, end)
    with pytest.raises(zipfile.BadZipFile, match="holds more than"):
        next(blocks)

"""Finds where the records of a zip contradict each other, so that programs read different archives from one file.

Programs start at the directory, or read the headers of the members one after the other. Source: APPNOTE.TXT 4.3.
"""

from __future__ import annotations

import struct
from typing import IO, TYPE_CHECKING, NamedTuple

from loadcheck.text import human_size, plural

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator, Sequence

_HEADER = b"PK\3\4"
_LOCAL = struct.Struct("<6xHH8xIIHH")
_END = struct.Struct("<4xHHHHIIH")
_END_64 = struct.Struct("<4xQHHIIQQQQ")
_LOCATOR = struct.Struct("<4xIQI")
_END_64_LENGTH = 44
"""What the record of zip64 states for its length: the bytes after this field. PyPI refuses more."""
_FURTHEST_END = 22 + 0xFFFF
_DESCRIPTOR = 0x8
_UNKNOWN = 0xFFFFFFFF
_FIELD, _ZIP64, _UNICODE_NAME = struct.Struct("<HH"), 0x0001, 0x7075
_ONCE = (_ZIP64, _UNICODE_NAME)
_ZIP64_LENGTHS = (0, 8, 16, 24, 28)
_SPACE, _DELETE = 0x20, 0x7F
_OTHER_METHOD = "has a method in its header that differs from the directory"


class Contradiction(NamedTuple):
    """Where records differ, or a program that reads from the start can't know the directory's answer."""

    member: str
    detail: str
    is_streamed: bool = False
    """Whether only programs that read from the start notice."""


def find_contradictions(file: IO[bytes], infos: Sequence[zipfile.ZipInfo], start: int) -> Iterator[Contradiction]:
    """What contradicts the directory, which `infos` are, and which starts at `start`."""
    yield from _judge_end(file, len(infos))
    ordered = sorted(infos, key=lambda info: info.header_offset)
    offsets = [info.header_offset for info in ordered] + [start]
    found = [
        Contradiction(info.filename, detail, is_streamed=detail != _OTHER_METHOD)
        for info, end in zip(ordered, offsets[1:], strict=True)
        for detail in _judge_member(file, info, end)
    ]
    if not found or all(_has_header(file, info) for info in infos):
        yield from found  # else a member cannot be read, which is reported, and those around it only seem wrong


def _has_header(file: IO[bytes], info: zipfile.ZipInfo) -> bool:
    """Whether a member's header is where the directory says."""
    file.seek(max(info.header_offset, 0))
    return file.read(len(_HEADER)) == _HEADER


def _judge_end(file: IO[bytes], count: int) -> Iterator[Contradiction]:
    size = file.seek(0, 2)
    first = max(size - _FURTHEST_END, 0)
    file.seek(first)
    tail = file.read()
    place = tail.rfind(b"PK\5\6")
    if place < 0 or place + _END.size > len(tail):
        return  # zipfile has found one, or there would be no directory
    _, _, here, total, _, _, comment = _END.unpack_from(tail, place)
    if trailing := len(tail) - place - _END.size - comment:
        what = f"{human_size(trailing)} follow the archive" if trailing > 0 else "the archive's comment is cut off"
        yield Contradiction("", what)
    counts = [here, total]
    if zip64 := _read_zip64(file, first + place):
        length, *of_zip64 = zip64
        counts = of_zip64 + (counts if here != total else [])
        if length != _END_64_LENGTH:
            yield Contradiction("", f"the record of zip64 says that it has {length} bytes, not {_END_64_LENGTH}")
    if wrong := [stated for stated in counts if stated != count]:
        text = f"the archive's last record says {plural(wrong[0], 'member')}, but the directory has {count}"
        yield Contradiction("", text)


def _read_zip64(file: IO[bytes], end: int) -> tuple[int, int, int] | None:
    """What the record of zip64 says: its own length, and the numbers of members; None if there is no such record."""
    file.seek(max(end - _LOCATOR.size, 0))
    locator = file.read(_LOCATOR.size)
    if locator[:4] != b"PK\6\7":
        return None
    place = _LOCATOR.unpack(locator)[1]
    if place > end:
        return None
    file.seek(place)
    record = file.read(_END_64.size)
    if record[:4] != b"PK\6\6" or len(record) < _END_64.size:
        return None
    fields = _END_64.unpack(record)
    return fields[0], fields[5], fields[6]


def _judge_member(file: IO[bytes], info: zipfile.ZipInfo, end: int) -> Iterator[str]:
    """What is wrong with the header of a member, after whose bytes the next record is expected at `end`.

    Source: warehouse/utils/zipfiles.py, by which PyPI judges each upload.
    """
    if info.header_offset < 0:
        return  # as zipfile counts if the directory is not where the last record says
    file.seek(info.header_offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or header[:4] != _HEADER:
        return  # reading the member fails
    flags, method, compressed, size, name, extra = _LOCAL.unpack(header)
    if flags & _DESCRIPTOR:
        yield "has a data descriptor: its size is only after its bytes"
        return
    yield from _judge_name(file.read(name), info)
    try:
        compressed, size = _read_sizes(file.read(extra), method, compressed, size)
    except (ValueError, struct.error):
        yield "has a damaged extra field, or one twice, or a control character in a name there"
        return
    if method != info.compress_type:
        yield _OTHER_METHOD  # which PyPI does not compare
    if (compressed, size) != (info.compress_size, info.file_size):
        yield "has a size in its header that differs from the directory"
    elif gap := end - (info.header_offset + _LOCAL.size + name + extra + compressed):
        if gap > 0:
            yield f"is followed by {human_size(gap)} that belong to no file"
        else:
            yield "shares bytes with another file"
    if info.comment:
        yield "has a comment"


def _judge_name(name: bytes, info: zipfile.ZipInfo) -> Iterator[str]:
    if _has_control(name):
        yield "has a control character in its name"
    elif name.decode("utf-8", "replace") != info.orig_filename:
        yield "has a name in its header that is not that of the directory in UTF-8"


def _has_control(name: bytes) -> bool:
    return any(character < _SPACE or character == _DELETE for character in name)


def _read_sizes(extra: bytes, method: int, compressed: int, size: int) -> tuple[int, int]:
    """The sizes of a member, some of which zip64 has in an extra field, size first.

    Raises ValueError or struct.error for a field that is cut off, has an impossible length or is there twice.
    """
    seen: set[int] = set()
    while extra:
        kind, length = _FIELD.unpack_from(extra)
        field, extra = extra[_FIELD.size : _FIELD.size + length], extra[_FIELD.size + length :]
        if len(field) < length or (kind in seen and kind in _ONCE):
            raise ValueError("cut off, or twice")
        seen.add(kind)
        if kind == _UNICODE_NAME:
            if _has_control(field[5:]):
                raise ValueError("a control character in a name")
            field[5:].decode("utf-8")
        if kind == _ZIP64:
            if (
                length not in _ZIP64_LENGTHS
                or (length == _ZIP64_LENGTHS[1] and method)
                or (not length and _UNKNOWN in (compressed, size))
            ):
                raise ValueError("an impossible length")
            numbers = struct.unpack_from(f"<{min(length // 8, 2)}Q", field)
            size = numbers[0] if numbers and size == _UNKNOWN else size
            compressed = numbers[-1] if numbers else compressed
    return compressed, size

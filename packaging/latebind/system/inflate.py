"""Reads the bytes of one member of a zip, block by block, and checks them against its headers.

`zipfile` does the same, but its buffers outgrow the CPU cache and it copies its unused input with every
block. Source: PKWARE's APPNOTE.TXT, 4.3.7.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

BLOCK = 1 << 18
"""No block is larger: it is hashed and copied while it is still in the CPU cache."""

_INPUT = 1 << 16
_LOCAL_HEADER = struct.Struct("<4s22xHH")
_MAGIC = b"PK\3\4"
_UTF_8, _PATCH, _STRONG_ENCRYPTION = 0x800, 0x20, 0x40


def member_blocks(file: BinaryIO, info: zipfile.ZipInfo, end: int) -> Iterator[bytes]:
    """The bytes of a member that is stored or deflated and not encrypted, checked against size and CRC-32.

    `end` is where the next member or the directory starts. The file may be used otherwise between two blocks.
    Raises BadZipFile, EOFError, zlib.error, struct.error, UnicodeDecodeError, NotImplementedError or OSError; the
    blocks before are then not to be trusted.
    """
    start = _data_start(file, info)
    if start + info.compress_size > end:
        raise zipfile.BadZipFile("shares its bytes with another member")
    compressed = _slices(file, start, info.compress_size)
    size = crc = 0
    for block in compressed if info.compress_type == zipfile.ZIP_STORED else _inflate(compressed):
        size += len(block)
        if size > info.file_size:
            raise zipfile.BadZipFile(f"holds more than the {info.file_size} bytes that the directory says")
        crc = zlib.crc32(block, crc)
        yield block
    if size != info.file_size:
        raise zipfile.BadZipFile(f"holds {size} bytes, the directory says {info.file_size}")
    if crc != info.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {info.filename!r}")


def _data_start(file: BinaryIO, info: zipfile.ZipInfo) -> int:
    """Where the data begin, by the header before them, which must agree with the directory."""
    if info.flag_bits & (_PATCH | _STRONG_ENCRYPTION):
        raise NotImplementedError("patched data and strong encryption are not read")
    file.seek(info.header_offset)
    magic: bytes
    name_length: int
    extra_length: int
    magic, name_length, extra_length = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    if magic != _MAGIC:
        raise zipfile.BadZipFile("Bad magic number for file header")
    name = file.read(name_length).decode("utf-8" if info.flag_bits & _UTF_8 else "cp437")
    if name != info.orig_filename:
        raise zipfile.BadZipFile(f"File name in directory {info.orig_filename!r} and header {name!r} differ.")
    return info.header_offset + _LOCAL_HEADER.size + name_length + extra_length


def _slices(file: BinaryIO, start: int, length: int) -> Iterator[bytes]:
    stop = start + length
    while start < stop:
        file.seek(start)
        data = file.read(min(_INPUT, stop - start))
        if not data:
            raise EOFError("the archive ends before its member does")
        start += len(data)
        yield data


def _inflate(compressed: Iterator[bytes]) -> Iterator[bytes]:
    engine = zlib.decompressobj(-zlib.MAX_WBITS)
    while not engine.eof:
        data = engine.unconsumed_tail or next(compressed, b"")
        block = engine.decompress(data, BLOCK)
        if block:
            yield block
        elif not data and not engine.eof:
            raise EOFError("the compressed data end too early")

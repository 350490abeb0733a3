"""Reads the few facts of a finished library that a build needs: its SONAME, and what zig's linker leaves open.

loadcheck has readers for everything else; tests compare the two. Sources: elf.h of glibc, mach-o/loader.h and
mach-o/fat.h of Apple's cctools, osfmk/kern/cs_blobs.h of Apple's xnu.
"""

from __future__ import annotations

import hashlib
import posixpath
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

_ELF = b"\x7fELF"
_PT_LOAD, _PT_DYNAMIC = 1, 2
_DT_NULL, _DT_STRTAB, _DT_SONAME = 0, 5, 14
_MACHO_64 = bytes.fromhex("cffaedfe")
_FAT: Mapping[bytes, str] = {bytes.fromhex("cafebabe"): ">IIIII", bytes.fromhex("cafebabf"): ">IIQQII"}
_LC_SEGMENT, _LC_SYMTAB, _LC_DYSYMTAB, _LC_ID, _LC_UUID, _LC_SIGNATURE = 0x19, 0x2, 0xB, 0xD, 0x1B, 0x1D
_HEADER_SIZE, _SEGMENT_SIZE, _DYSYMTAB_SIZE = 32, 72, 80
_SECTION = struct.Struct("<16s16sQQ8I")
_SECTION_KIND = 0xFF
_SLOT_KINDS: Mapping[int, str] = {6: "pointers", 7: "lazy", 8: "stubs"}
_SIGNATURE, _DIRECTORY, _SHA_256 = 0xFADE0CC0, 0xFADE0C02, 2


def sonames(data: bytes) -> set[str]:
    """The file names by which a library asks to be opened, of all its architectures; none where it is damaged."""
    try:
        names = {_elf_soname(data)} if data.startswith(_ELF) else {MachoFile(part).name for part in _slices(data)}
    except (ValueError, IndexError, struct.error):
        return set()
    return {posixpath.basename(name) for name in names if name}


def _elf_soname(data: bytes) -> str:
    is_64, order = data[4:5] == b"\2", ">" if data[5:6] == b"\2" else "<"
    table, entry, count = (
        struct.unpack_from(f"{order}Q14xHH", data, 32) if is_64 else struct.unpack_from(f"{order}I10xHH", data, 28)
    )
    segments = []
    for place in range(table, table + entry * count, entry):
        if is_64:
            kind, _, offset, address, _, size = struct.unpack_from(f"{order}IIQQQQ", data, place)
        else:
            kind, offset, address, _, size = struct.unpack_from(f"{order}5I", data, place)
        segments.append((kind, offset, address, size))
    values: dict[int, int] = {}
    for _, offset, _, size in (segment for segment in segments if segment[0] == _PT_DYNAMIC):
        layout = struct.Struct(f"{order}{'QQ' if is_64 else 'II'}")
        for tag, value in layout.iter_unpack(data[offset : offset + size // layout.size * layout.size]):
            if tag == _DT_NULL:
                break
            values[tag] = value
    if _DT_SONAME not in values:
        return ""
    strings = values[_DT_STRTAB]
    (start,) = (
        offset + strings - address
        for kind, offset, address, size in segments
        if kind == _PT_LOAD and address <= strings < address + size
    )
    start += values[_DT_SONAME]
    return data[start : data.index(b"\0", start)].decode("utf-8", "replace")


def _slices(data: bytes) -> Iterator[bytes]:
    """The 64-bit parts of a Mach-O file; none of any other file."""
    if form := _FAT.get(data[:4]):
        layout = struct.Struct(form)
        for index in range(int.from_bytes(data[4:8], "big")):
            start, size = layout.unpack_from(data, 8 + index * layout.size)[2:4]
            yield from _slices(data[start : start + size])
    elif data.startswith(_MACHO_64):
        yield data


class Slots(NamedTuple):
    """A section of pointers or stubs, each for the symbol that the table of indirect symbols names for it."""

    kind: str
    first: int
    """Of its entries in that table."""
    number: int
    place: int
    """Where the file has the section."""


@dataclass
class MachoFile:
    """A thin 64-bit file. Raises ValueError or struct.error where it is damaged."""

    data: bytes
    name: str = ""
    """Its install name."""
    uuid_place: slice = field(default_factory=lambda: slice(0, 0))
    signature: tuple[int, ...] = ()
    """Where the code signature is, and its size."""
    symbols: tuple[int, ...] = (0, 0)
    """Where the symbols are, and how many."""
    indirect: tuple[int, ...] = (0, 0)
    """Where the table of indirect symbols is, and how many it has."""
    slots: list[Slots] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Read the load commands."""
        (count,) = struct.unpack_from("<I", self.data, 16)
        position = _HEADER_SIZE
        for _ in range(count):
            command, length = struct.unpack_from("<II", self.data, position)
            if length < 8:  # noqa: PLR2004  # the two words just read
                raise ValueError(f"the load command at byte {position} has the invalid length {length}")
            self._take(command, position, length)
            position += length

    def _take(self, command: int, position: int, length: int) -> None:
        pair = struct.unpack_from("<II", self.data, position + 8) if length >= 16 else (0, 0)  # noqa: PLR2004
        if command == _LC_SEGMENT:
            self._read_sections(position)
        elif command == _LC_ID:
            self.name = self.data[position + pair[0] : position + length].rstrip(b"\0").decode("utf-8", "replace")
        elif command == _LC_UUID:
            self.uuid_place = slice(position + 8, position + 24)
        elif command == _LC_SIGNATURE:
            self.signature = pair
        elif command == _LC_SYMTAB:
            self.symbols = pair
        elif command == _LC_DYSYMTAB and length >= _DYSYMTAB_SIZE:
            self.indirect = struct.unpack_from("<II", self.data, position + 56)

    def _read_sections(self, position: int) -> None:
        offset, size, count = struct.unpack_from("<QQ8xI", self.data, position + 40)
        if offset + size > len(self.data):
            raise ValueError(f"cut off: a segment ends at byte {offset + size}")
        for index in range(count):
            row = _SECTION.unpack_from(self.data, position + _SEGMENT_SIZE + index * _SECTION.size)
            _, _, _, room, where, _, _, _, flags, first, size, _ = row
            if kind := _SLOT_KINDS.get(flags & _SECTION_KIND):
                width = size if kind == "stubs" else 8
                self.slots.append(Slots(kind, first, room // width if width else 0, where))


def sign_pages(data: bytearray, start: int) -> None:
    """Write the hashes of the present pages into the signature at that place, as zig's linker signs files.

    Raises struct.error or IndexError where the signature is cut off.
    """
    magic, _, count = struct.unpack_from(">3I", data, start)
    for index in range(count if magic == _SIGNATURE else 0):
        _, offset = struct.unpack_from(">2I", data, start + 12 + 8 * index)
        place = start + offset
        magic, _, _, _, hashes, _, _, _, limit = struct.unpack_from(">9I", data, place)
        size, kind, _, page = struct.unpack_from("4B", data, place + 36)
        if magic != _DIRECTORY or kind != _SHA_256:
            continue
        for number, begin in enumerate(range(0, limit, 1 << page)):
            signed = bytes(data[begin : min(begin + (1 << page), limit)])
            to = place + hashes + number * size
            data[to : to + size] = hashlib.sha256(signed).digest()

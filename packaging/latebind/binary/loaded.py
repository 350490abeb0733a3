"""Reads the loaded parts of a library and its debug id, to prove that debug symbols belong to a library.

A stripped and an unstripped link of the same objects differ only in the parts that are not loaded and in the id, which
is a hash of the file: GNU's build id, or the UUID of Mach-O. Sources: elf(5); mach-o/loader.h of Apple's cctools.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.binary.lief_once import lief
from latebind.binary.read import PEEK, sniff
from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_BUILD_ID = ".note.gnu.build-id"
_NOTE_HEADER = 16
_SECTION_HEADERS = (slice(40, 48), slice(58, 64))
"""Where the header of a 64-bit ELF file has e_shoff, and e_shentsize, e_shnum and e_shstrndx."""
_UUID_HEADER = 8
_UUID_SIZE = 16
_NOT_LOADED = frozenset({"__DWARF", "__LINKEDIT"})
"""Segments of Mach-O with symbols. What the loader reads of __LINKEDIT follows from the other segments."""

lief.logging.disable()


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One native file. `id_place` is where the file stores its id; `blocks` are the loaded parts by address."""

    id: bytes
    id_place: slice
    blocks: Mapping[str, bytes]
    has_debug: bool


def read_loaded(data: bytes, name: str) -> Loaded:
    """The loaded parts of a 64-bit ELF or thin Mach-O file. Raises InputError for others and for one without an id."""
    match sniff(data[:PEEK]):
        case "elf":
            return _elf(data, name)
        case "macho":
            return _macho(data, name)
        case _:
            raise InputError("is not an ELF or Mach-O file", where=name)


def with_id(data: bytes, id_: bytes, name: str) -> bytes:
    """The file with another id of the same length. Raises InputError."""
    known = read_loaded(data, name)
    if len(known.id) != len(id_):
        raise InputError(f"its id has {len(known.id)} bytes instead of {len(id_)}", where=name)
    return data[: known.id_place.start] + id_ + data[known.id_place.stop :]


def _elf(data: bytes, name: str) -> Loaded:
    binary = lief.ELF.parse(io.BytesIO(data))
    if not isinstance(binary, lief.ELF.Binary):
        raise InputError("cannot be read", where=name)
    note = next((section for section in binary.sections if section.name == _BUILD_ID), None)
    if note is None:
        raise InputError("has no build id", where=name, advice="Call latebind_hardening() on it, which adds one.")
    place = slice(note.offset + _NOTE_HEADER, note.offset + note.size)
    masked = bytearray(data)
    for part in (*_SECTION_HEADERS, place):
        masked[part] = bytes(part.stop - part.start)
    return Loaded(
        id=data[place],
        id_place=place,
        blocks={
            f"{segment.virtual_address:#x}+{segment.virtual_size:#x}": bytes(
                masked[segment.file_offset : segment.file_offset + segment.physical_size]
            )
            for segment in binary.segments
            if segment.type == lief.ELF.Segment.TYPE.LOAD
        },
        has_debug=any(str(section.name).startswith((".debug_", ".zdebug_")) for section in binary.sections),
    )


def _macho(data: bytes, name: str) -> Loaded:
    slices = lief.MachO.parse(io.BytesIO(data))
    if slices is None or slices.size != 1:
        raise InputError("has several architectures, or cannot be read", where=name)
    binary = slices.at(0)
    if binary is None or binary.uuid is None:
        raise InputError("has no LC_UUID", where=name)
    start = binary.uuid.command_offset + _UUID_HEADER
    place = slice(start, start + _UUID_SIZE)
    return Loaded(
        id=data[place],
        id_place=place,
        blocks={
            f"{one.segment_name},{one.name!s} {one.virtual_address:#x}+{one.size:#x}": data[
                one.offset : one.offset + (one.size if one.offset else 0)
            ]
            for one in binary.sections
            if one.segment_name not in _NOT_LOADED
        },
        has_debug=any(one.segment_name == "__DWARF" for one in binary.sections),
    )

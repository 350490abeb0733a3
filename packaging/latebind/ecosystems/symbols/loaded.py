"""Reads the loaded parts of a library and its debug id, to prove that debug symbols belong to a library.

A stripped and an unstripped link of the same objects differ only in the parts that are not loaded and in the id, which
is a hash of the file: GNU's build id, or the UUID of Mach-O. Sources: elf(5); mach-o/loader.h of Apple's cctools.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import loadcheck
from latebind.errors import InputError
from loadcheck.facts import PEEK, ElfFile, MachoFile, sniff

_PT_LOAD = 1
_SECTION_HEADERS = (slice(40, 48), slice(58, 64))
"""Where the header of a 64-bit ELF file has e_shoff, and e_shentsize, e_shnum and e_shstrndx."""
_NOT_LOADED = ("__DWARF,", "__LINKEDIT,")
"""Segments of Mach-O with symbols. What the loader reads of __LINKEDIT follows from the other segments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One native file. `id_place` is where the file stores its id; `blocks` are the loaded parts by address."""

    id: bytes
    id_place: slice
    blocks: Mapping[str, bytes]
    has_debug: bool


def read_loaded(data: bytes, name: str) -> Loaded:
    """The loaded parts of a 64-bit ELF or thin Mach-O file. Raises InputError for others and for one without an id."""
    readers = {"elf": _elf, "macho": _macho}
    if (reader := readers.get(sniff(data[:PEEK]) or "")) is None:
        raise InputError("is not an ELF or Mach-O file", where=name)
    try:
        return reader(data, name)
    except (struct.error, ValueError, loadcheck.InputError) as error:
        raise InputError(f"cannot be read: {error}", where=name) from error


def with_id(data: bytes, id_: bytes, name: str) -> bytes:
    """The file with another id of the same length. Raises InputError."""
    loaded = read_loaded(data, name)
    if len(loaded.id) != len(id_):
        raise InputError(f"its id has {len(loaded.id)} bytes instead of {len(id_)}", where=name)
    return data[: loaded.id_place.start] + id_ + data[loaded.id_place.stop :]


def _elf(data: bytes, name: str) -> Loaded:
    file = ElfFile(data)
    id_slice = file.build_id_place
    if id_slice.start == id_slice.stop:
        raise InputError("has no build id", where=name, advice="latebind_hardening() in CMake adds one.")
    masked = bytearray(data)
    for part in (*_SECTION_HEADERS, id_slice):
        masked[part] = bytes(part.stop - part.start)
    return Loaded(
        id=data[id_slice],
        id_place=id_slice,
        blocks={
            f"{segment.address:#x}+{segment.room:#x}": bytes(masked[segment.offset : segment.offset + segment.size])
            for segment in file.segments
            if segment.kind == _PT_LOAD
        },
        has_debug=any(section.name.startswith((b".debug_", b".zdebug_")) for section in file.sections),
    )


def _macho(data: bytes, name: str) -> Loaded:
    file = MachoFile(data)
    if file.uuid_place.start == file.uuid_place.stop:
        raise InputError("has no LC_UUID", where=name)
    return Loaded(
        id=data[file.uuid_place],
        id_place=file.uuid_place,
        blocks={text: data[part] for text, part in file.sections.items() if not text.startswith(_NOT_LOADED)},
        has_debug=file.has_dwarf,
    )

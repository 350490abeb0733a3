"""Completes the table of indirect symbols of a Mach-O file, which zig's linker leaves partly unwritten.

For a pointer to a private symbol of the same file, that linker reserves an entry and writes none (write() of Indsymtab
in its src/link/MachO/synthetic.zig): the entries after it move up, and the last ones are what was in memory. dyld does
not read the table, but two builds differ, and strip and debuggers name wrong symbols.

Source: "indirect symbol table" in mach-o/loader.h of Apple's cctools.
"""

from __future__ import annotations

import hashlib
import struct
import uuid
from collections.abc import Iterator, Sequence

from loadcheck.facts import MachoFile, list_directories

_MACHO_64 = bytes.fromhex("cffaedfe")
_LOCAL = 0x80000000  # INDIRECT_SYMBOL_LOCAL
_SYMBOL_SIZE = 16


def complete_indirect_symbols(data: bytes) -> bytes:
    """A thin 64-bit file with all its indirect symbols, and with the id and page hashes that follow from them.

    Other files, damaged ones and those whose table is complete or has no sense in any case are returned as they are.
    """
    if not data.startswith(_MACHO_64):
        return data
    try:
        return _complete(data)
    except (ValueError, IndexError, struct.error):
        return data


def _complete(data: bytes) -> bytes:
    file = MachoFile(data)
    place, count = file.indirect
    written = struct.unpack_from(f"<{count}I", data, place)
    if sum(section.number for section in file.slots) != count:
        return data
    entries = list(_list_entries(file, written))
    if tuple(entries) == written or not _has_sense(file, entries):
        return data
    completed = bytearray(data)
    struct.pack_into(f"<{count}I", completed, place, *entries)
    signature, size = file.signature or (len(completed), 0)
    if file.uuid_place.stop:
        completed[file.uuid_place] = bytes(16)
        digest = hashlib.sha256(completed[:signature]).digest()
        completed[file.uuid_place] = uuid.UUID(bytes=digest[:16], version=5).bytes
    if size:
        _sign_pages(completed, signature, size)
    return bytes(completed)


def _list_entries(file: MachoFile, written: Sequence[int]) -> Iterator[int]:
    """The entries of all sections in order. A pointer to a symbol of this file has one only if that is in its table."""
    position = 0
    for section in sorted(file.slots, key=lambda section: section.first):
        for slot in range(section.number):
            entry = written[position]
            if section.kind == "pointers":
                (value,) = struct.unpack_from("<Q", file.data, section.place + 8 * slot)
                if value and entry != _LOCAL and _value(file, entry) != value:
                    yield _LOCAL
                    continue
            position += 1
            yield entry


def _value(file: MachoFile, index: int) -> int | None:
    """The address of a symbol of the file; None if the table has no such symbol."""
    if index >= file.tables.count:
        return None
    (value,) = struct.unpack_from("<Q", file.data, file.tables.symbols + _SYMBOL_SIZE * index + 8)
    return int(value)


def _has_sense(file: MachoFile, entries: Sequence[int]) -> bool:
    """Whether each stub and its pointer are for the same symbol, and every entry is for one."""
    parts = {section.kind: entries[section.first : section.first + section.number] for section in file.slots}
    in_table = all(entry == _LOCAL or entry < file.tables.count for entry in entries)
    return in_table and parts.get("stubs") == parts.get("lazy")


def _sign_pages(data: bytearray, start: int, size: int) -> None:
    """Write the hashes of the present pages into the signature at that place.

    Raises struct.error or IndexError where the signature is cut off.
    """
    for kind, hashes, page, limit in list(list_directories(data, start, size)):
        for index in range(-(-limit // page)):
            place = hashes + index * kind.size
            signed = data[index * page : min((index + 1) * page, limit)]
            data[place : place + kind.size] = kind.make(bytes(signed)).digest()[: kind.size]

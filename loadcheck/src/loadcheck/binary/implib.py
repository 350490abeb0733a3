"""Reads the import libraries of Windows: archives of short import objects (PE format specification, 8), or of COFF."""

from __future__ import annotations

import struct

from loadcheck.binary.pe import ARCHS

_MAGIC = b"!<arch>\n"
_HEADER = 60
_SHORT = struct.Struct("<HHHHIIHH")


def import_library(data: bytes) -> tuple[frozenset[str], frozenset[str]] | None:
    """The members' CPUs, and the DLLs that the short imports name, in lower case; None if it is not an archive.

    Members that are damaged are left out.
    """
    if not data.startswith(_MAGIC):
        return None
    archs: set[str] = set()
    libraries: set[str] = set()
    position = len(_MAGIC)
    while position + _HEADER <= len(data):
        name, size = data[position : position + 16].strip(), data[position + 48 : position + 58].strip()
        if not size.isdigit():
            break
        start, end = position + _HEADER, position + _HEADER + int(size)
        member = data[start:end]
        position = end + end % 2
        if name in (b"/", b"//") or len(member) < _SHORT.size:
            continue
        first, second, _, machine, *_ = _SHORT.unpack_from(member)
        is_short = (first, second) == (0, 0xFFFF)
        number = machine if is_short else first
        archs.add(ARCHS.get(number, f"unknown-{number}"))
        strings = member[_SHORT.size :].split(b"\0")
        if is_short and len(strings) > 1:
            libraries.add(strings[1].decode("utf-8", "replace").lower())
    return frozenset(archs), frozenset(libraries)

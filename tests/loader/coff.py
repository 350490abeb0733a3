"""Reads the symbols of the objects in a static library for Windows."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_EXTERNAL = 2
"""IMAGE_SYM_CLASS_EXTERNAL."""
_X64 = 0x8664
_TEXT = 1
"""The number of .text in objects of clang."""


def objects(library: Path) -> Iterator[bytes]:
    """The COFF objects in an archive."""
    data, at = library.read_bytes(), 8
    assert data.startswith(b"!<arch>\n")
    while at < len(data):
        name, size = data[at : at + 16].rstrip(), int(data[at + 48 : at + 58])
        if name not in {b"/", b"//"}:
            yield data[at + 60 : at + 60 + size]
        at += 60 + size + size % 2


@dataclass(frozen=True)
class Symbol:
    """A symbol of an object."""

    name: str
    is_external: bool
    value: int
    section: int


def symbols(data: bytes) -> dict[int, Symbol]:
    """The symbols of an object, by their places in its table."""
    pointer, count = struct.unpack_from("<II", data, 8)
    texts, index, result = pointer + 18 * count, 0, dict[int, Symbol]()
    while index < count:
        raw, value, section, _, kind, more = struct.unpack_from("<8sIhHBB", data, pointer + 18 * index)
        start = texts + int.from_bytes(raw[4:], "little")
        name = raw.rstrip(b"\0") if raw[:4] != bytes(4) else data[start : data.index(b"\0", start)]
        result[index] = Symbol(name.decode("ascii"), kind == _EXTERNAL, value, section)
        index += 1 + more
    return result


def external_symbols(library: Path) -> tuple[set[str], set[str]]:
    """The names that the objects of an archive define for others, and those that they need."""
    external = [symbol for data in objects(library) for symbol in symbols(data).values() if symbol.is_external]
    # Without a section and with a value it is common, as C's tentative definitions are.
    defined = {symbol.name for symbol in external if symbol.section or symbol.value}
    return defined, {symbol.name for symbol in external} - defined


def guarded_symbols(library: Path) -> set[str]:
    """The names of functions that control-flow guard lets programs call by their addresses."""
    names = set[str]()
    for data in objects(library):
        by_index = symbols(data)
        for size, start, _, _ in _sections(data, b".gfids$y"):
            names |= {by_index[index].name for (index,) in struct.iter_unpack("<I", data[start : start + size])}
    return names


def unwound_symbols(library: Path) -> set[str]:
    """The names of functions in .text that have unwinding data."""
    names = set[str]()
    for data in objects(library):
        by_index = symbols(data)
        entry_size = 12 if struct.unpack_from("<H", data)[0] == _X64 else 8
        starts = set[int]()
        for _, start, relocations, count in _sections(data, b".pdata"):
            for place, index, _ in struct.iter_unpack("<IIH", data[relocations : relocations + 10 * count]):
                (offset,) = struct.unpack_from("<I", data, start + place)
                if place % entry_size == 0 and by_index[index].section == _TEXT:
                    starts.add(by_index[index].value + offset)
        names |= {symbol.name for symbol in by_index.values() if symbol.section == _TEXT and symbol.value in starts}
    return names


def _sections(data: bytes, wanted: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Of each section of that name: its size, where it is, where its relocations are, and how many."""
    (number,) = struct.unpack_from("<H", data, 2)
    for position in range(20, 20 + 40 * number, 40):
        name, _, _, size, start, relocations, _, count = struct.unpack_from("<8sIIIIIIH", data, position)
        if name.rstrip(b"\0") == wanted:
            yield size, start, relocations, count

"""Reads the symbols of the objects in a static library for Windows."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_EXTERNAL = 2
"""IMAGE_SYM_CLASS_EXTERNAL."""


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
    is_defined: bool


def symbols(data: bytes) -> dict[int, Symbol]:
    """The symbols of an object, by their places in its table."""
    pointer, count = struct.unpack_from("<II", data, 8)
    texts, index, result = pointer + 18 * count, 0, dict[int, Symbol]()
    while index < count:
        raw, value, section, _, kind, more = struct.unpack_from("<8sIhHBB", data, pointer + 18 * index)
        start = texts + int.from_bytes(raw[4:], "little")
        name = raw.rstrip(b"\0") if raw[:4] != bytes(4) else data[start : data.index(b"\0", start)]
        is_defined = section != 0 or value != 0  # with a value it is common, as C's tentative definitions are
        result[index] = Symbol(name.decode("ascii"), kind == _EXTERNAL, is_defined)
        index += 1 + more
    return result


def external_symbols(library: Path) -> tuple[set[str], set[str]]:
    """The names that the objects of an archive define for others, and those that they need."""
    external = [symbol for data in objects(library) for symbol in symbols(data).values() if symbol.is_external]
    defined = {symbol.name for symbol in external if symbol.is_defined}
    return defined, {symbol.name for symbol in external} - defined


def guarded_symbols(library: Path) -> set[str]:
    """The names of functions that control-flow guard lets programs call by their addresses (section .gfids$y)."""
    names = set[str]()
    for data in objects(library):
        by_index = symbols(data)
        (sections,) = struct.unpack_from("<H", data, 2)
        for number in range(sections):
            name, _, _, size, start = struct.unpack_from("<8sIIII", data, 20 + 40 * number)
            if name == b".gfids$y":
                names |= {by_index[index].name for (index,) in struct.iter_unpack("<I", data[start : start + size])}
    return names

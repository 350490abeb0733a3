"""Reads the symbols of the objects in a static library for Windows."""

from __future__ import annotations

import struct
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


def external_symbols(library: Path) -> tuple[set[str], set[str]]:
    """The names that the objects of an archive define for others, and those that they need."""
    defined, undefined = set[str](), set[str]()
    for data in objects(library):
        pointer, count = struct.unpack_from("<II", data, 8)
        texts, index = pointer + 18 * count, 0
        while index < count:
            raw, value, section, _, kind, more = struct.unpack_from("<8sIhHBB", data, pointer + 18 * index)
            index += 1 + more
            if kind != _EXTERNAL:
                continue
            start = texts + int.from_bytes(raw[4:], "little")
            name = raw.rstrip(b"\0") if raw[:4] != bytes(4) else data[start : data.index(b"\0", start)]
            is_undefined = section == 0 and value == 0  # with a value it is common, as C's tentative definitions are
            (undefined if is_undefined else defined).add(name.decode("ascii"))
    return defined - undefined, undefined - defined

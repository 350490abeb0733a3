"""The hashes of pages in the code signature of a Mach-O file, which the kernel compares before it uses a page.

Source: osfmk/kern/cs_blobs.h and bsd/kern/ubc_subr.c of Apple's xnu.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loadcheck.binary.image import Data

_SIGNATURE, _DIRECTORY = 0xFADE0CC0, 0xFADE0C02
_FIRST_ALTERNATE, _ALTERNATES = 0x1000, 5
_MOST_BLOBS = 64
_DIRECTORY_SIZE = 44
_PAGE_SIZES = (12, 14)
"""The logarithms of the sizes that the kernel accepts."""
_SCATTER_SINCE, _LONG_SINCE = 0x20100, 0x20300
_SHOWN = 3


class _Hash(NamedTuple):
    rank: int
    """The kernel uses the hashes of the highest rank."""
    size: int
    title: str
    make: Callable[[bytes], hashlib._Hash]


_HASHES: Mapping[int, _Hash] = {
    1: _Hash(0, 20, "SHA-1", hashlib.sha1),
    2: _Hash(2, 32, "SHA-256", hashlib.sha256),
    3: _Hash(1, 20, "SHA-256", hashlib.sha256),  # cut off
    4: _Hash(3, 48, "SHA-384", hashlib.sha384),
}


class SignedPages(NamedTuple):
    """The pages for which a code signature has hashes."""

    total: int
    changed: int
    """How many have another hash than the signature."""
    places: tuple[int, ...] = ()
    """Where the first of these begin in the file or slice."""
    algorithm: str = "SHA-256"


class _Directory(NamedTuple):
    """A CodeDirectory, as far as pages need it."""

    hash: _Hash
    start: int
    """Where the hashes begin."""
    page: int
    limit: int
    """Where the signed bytes end."""


def read_signed_pages(data: Data, start: int, size: int) -> SignedPages | None:
    """Compare the pages of a slice with its signature at that place; None if the signature cannot be judged."""
    try:
        directories = list(list_directories(data, start, min(size, len(data) - start)))
    except struct.error:
        return None
    if not directories:
        return None
    kind, hashes, page, limit = max(directories, key=lambda each: each.hash.rank)
    count = -(-limit // page)
    if limit > len(data) or hashes + count * kind.size > len(data):
        return None
    changed = 0
    places: list[int] = []
    for index in range(count):
        place = hashes + index * kind.size
        begin = index * page
        if kind.make(data[begin : min(begin + page, limit)]).digest()[: kind.size] != data[place : place + kind.size]:
            changed += 1
            if len(places) < _SHOWN:
                places.append(begin)
    return SignedPages(count, changed, tuple(places), kind.title)


def list_directories(data: Data | bytearray, start: int, size: int) -> Iterator[_Directory]:
    """The CodeDirectory of a signature and its alternates. Raises struct.error where it is cut off."""
    magic, _, count = struct.unpack_from(">3I", data, start)
    for index in range(min(count, _MOST_BLOBS) if magic == _SIGNATURE else 0):
        slot, place = struct.unpack_from(">2I", data, start + 12 + 8 * index)
        is_directory = slot == 0 or _FIRST_ALTERNATE <= slot < _FIRST_ALTERNATE + _ALTERNATES
        if is_directory and place + _DIRECTORY_SIZE <= size:
            directory = _read_directory(data, start + place)
            if directory is not None:
                yield directory


def _read_directory(data: Data | bytearray, start: int) -> _Directory | None:
    """A CodeDirectory; None for one of another form, which the kernel does not accept or macOS does not use."""
    magic, _, version, _, hashes, _, _, slots, limit = struct.unpack_from(">9I", data, start)
    size, kind, _, page = struct.unpack_from("4B", data, start + 36)
    if version >= _SCATTER_SINCE and struct.unpack_from(">I", data, start + 44)[0]:
        return None
    if version >= _LONG_SINCE:
        limit = struct.unpack_from(">Q", data, start + 56)[0] or limit
    chosen = _HASHES.get(kind)
    if magic != _DIRECTORY or chosen is None or size != chosen.size or page not in _PAGE_SIZES:
        return None
    if slots << page < limit:
        return None
    return _Directory(chosen, start + hashes, 1 << page, limit)

"""Ways in which a runtime's library is made unusable: bytes in, bytes out, of the same length but for two."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  # part of a signature that tools read

from latebind.binary.read import read_images
from latebind.errors import InputError

_HEAD = 4096
_TEXT = b"This is not a library.\n"


def truncated(data: bytes) -> bytes:
    """The first half: a download that was cut off."""
    return data[: len(data) // 2]


def corrupt(data: bytes) -> bytes:
    """Noughts where the header was: a disk that lost a block."""
    return bytes(min(_HEAD, len(data))) + data[_HEAD:]


def text(_: bytes) -> bytes:
    """A text: what a failed checkout of large files leaves."""
    return _TEXT * 64


def renamed(data: bytes, old: str, new: str) -> bytes:
    """A zero-terminated name inside a library changed into another of the same length, everywhere.

    Raises InputError when it does not occur, or the lengths differ.
    """
    before, after = (b"\0" + name.encode("ascii") + b"\0" for name in (old, new))
    if len(before) != len(after) or before not in data:
        raise InputError(f"the runtime's library does not hold {old} as a name of its own")
    return data.replace(before, after)


def dependency_of(library: Path) -> tuple[str, str]:
    """A library that the runtime needs, and a name of the same length that no system has.

    Raises InputError when it needs none whose name stands alone in the file.
    """
    data = library.read_bytes()
    for image in read_images(data, library.name):
        for name in image.needed:
            stem, dot, rest = name.partition(".")
            if b"\0" + name.encode() + b"\0" in data and not stem.startswith("ld-"):
                return name, stem[:-1] + ("q" if stem[-1:] != "q" else "z") + dot + rest
    raise InputError("the runtime's library needs no other by a name of its own", where=str(library))

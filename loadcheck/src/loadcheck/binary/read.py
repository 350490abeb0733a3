"""Recognizes native binaries by their first bytes and reads them."""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING

from loadcheck.binary.elf import list_outside_code, read_elf
from loadcheck.binary.macho import read_macho
from loadcheck.binary.pe import read_pe
from loadcheck.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadcheck.binary.image import Data, Format, Image

_MACHO = {bytes.fromhex(text) for text in ("feedface", "feedfacf", "cefaedfe", "cffaedfe", "cafebabe", "cafebabf")}
_JAVA = bytes.fromhex("cafebabe")
_FIRST_JAVA = 45
_CONSTANTS = range(1, 21)
_DOS_HEADER = 64
_TITLES: Mapping[Format, str] = {"elf": "ELF", "macho": "Mach-O", "pe": "PE"}
_READERS: Mapping[Format, Callable[[Data], tuple[Image, ...]]] = {
    "elf": lambda data: (read_elf(data),),
    "macho": read_macho,
    "pe": lambda data: (read_pe(data),),
}
_PE32_PLUS = 0x20B
_CLI_DIRECTORY = 14
PEEK = 4096
"""The number of first bytes that decide the format."""


def sniff(head: bytes) -> Format | None:
    """The format of a file by its first PEEK bytes, or None if it is not a native binary."""
    if head[:4] == b"\x7fELF":
        return "elf"
    if head[:4] in _MACHO:
        return None if _is_java(head) else "macho"
    if head[:2] == b"MZ" and len(head) >= _DOS_HEADER:
        (start,) = struct.unpack_from("<I", head, 60)
        return "pe" if head[start : start + 4] == b"PE\0\0" or start + 4 > PEEK else None
    return None


def _is_java(head: bytes) -> bool:
    """Whether this is a class, whose first bytes are those of universal Mach-O files.

    A class goes on with a version of at least 45, and the first constant has a kind from 1 to 20 (JVMS 4.1 and 4.4).
    A universal file has zeros there: the number of its slices, and the processor of the first.
    """
    version, kind = int.from_bytes(head[6:8], "big"), head[10:11]
    return head[:4] == _JAVA and version >= _FIRST_JAVA and (not kind or kind[0] in _CONSTANTS)


def is_managed(head: bytes) -> bool:
    """Whether a PE file is a .NET assembly: its data directory 14 (the CLI header) is not empty."""
    if sniff(head) != "pe":
        return False
    try:
        (start,) = struct.unpack_from("<I", head, 60)
        (magic,) = struct.unpack_from("<H", head, start + 24)
        table = start + 24 + (112 if magic == _PE32_PLUS else 96)
        count, cli = (
            struct.unpack_from("<I", head, table - 4)[0],
            struct.unpack_from("<I", head, table + _CLI_DIRECTORY * 8)[0],
        )
    except struct.error:
        return False
    return bool(count > _CLI_DIRECTORY and cli)


def list_text_ranges(data: Data) -> list[tuple[int, int]]:
    """The ranges of a file that may hold text: in an ELF file, whatever no section header calls instructions."""
    if sniff(data[:PEEK]) == "elf":
        with suppress(struct.error, ValueError, InputError):
            return list_outside_code(data)
    return [(0, len(data))]


def read_images(data: Data, name: str) -> tuple[Image, ...]:
    """The images in `data`: several for a universal Mach-O file, none if it is not a native binary.

    Raises InputError, with `name`, when the file is damaged.
    """
    form = sniff(data[:PEEK])
    if form is None:
        return ()
    try:
        return _READERS[form](data)
    except (struct.error, ValueError, IndexError, RecursionError) as error:
        raise InputError(f"the {_TITLES[form]} tables cannot be read: {error}", where=name) from error
    except InputError as error:
        raise InputError(error.message, where=name) from error


def read_image(data: Data, name: str) -> Image | None:
    """The first image in `data`; see `read_images`."""
    return next(iter(read_images(data, name)), None)

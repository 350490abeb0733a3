"""The headers and sections of a PE file. Every offset is checked before it is used."""

from __future__ import annotations

import struct
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from loadcheck.binary.text import Reading
from loadcheck.errors import InputError

if TYPE_CHECKING:
    from loadcheck.binary.image import Data

_EXECUTE = 0x20000000
_PE32_PLUS = 0x20B


class _Section(NamedTuple):
    name: bytes
    room: int
    """Bytes in memory."""
    address: int
    size: int
    """Bytes in the file."""
    offset: int
    flags: int


class PeFile:
    """A file for 32 or 64 bits. Raises InputError, ValueError or struct.error if it is damaged or cut off."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self.reading = Reading(len(data))
        try:
            self._read_headers()
        except struct.error as error:
            raise InputError(f"the PE headers are cut off: {error}") from error
        for section in self._sections:
            if section.size and section.offset + section.size > len(data):
                raise InputError(
                    f"cut off: a section ends at byte {section.offset + section.size}, "
                    f"but the file ends at byte {len(data)}"
                )

    def _read_headers(self) -> None:
        (start,) = self.unpack("I", 60)
        self.machine, count, _, symbols, number, size, self.characteristics = self.unpack("HHIIIHH", start + 4)
        optional = start + 24
        (magic,) = self.unpack("H", optional)
        self.is_64 = magic == _PE32_PLUS
        (self.base,) = self.unpack("Q" if self.is_64 else "I", optional + (24 if self.is_64 else 28))
        self._directories = optional + (112 if self.is_64 else 96)
        (self._number,) = self.unpack("I", self._directories - 4)
        self._strings = symbols + 18 * number
        table = optional + size
        self._headers_end = table + 40 * count
        headers = (struct.unpack_from("<8sIIII12xI", self.data, table + 40 * index) for index in range(count))
        self._sections = [_Section(*header) for header in headers]

    def unpack(self, layout: str, position: int) -> tuple[int, ...]:
        """The numbers at a place."""
        return struct.unpack_from("<" + layout, self.data, position)

    def directory(self, index: int) -> tuple[int, int]:
        """Address and size of a data directory; zeros if the file has none."""
        address, size = self.unpack("II", self._directories + 8 * index) if index < self._number else (0, 0)
        return address, size

    def place_of(self, address: int) -> int:
        """Where the file stores what is mapped to an address, which counts from the file's base."""
        for section in self._sections:
            if section.address <= address < section.address + section.size:
                return section.offset + address - section.address
        if address < self._headers_end:
            return address
        raise ValueError(f"the address {address:#x} is in no section")

    def text(self, position: int) -> str:
        """The name at a place of the file."""
        return self.reading.name_at(self.data, position)

    @cached_property
    def code(self) -> list[tuple[int, int]]:
        """Start and end of each section with code."""
        code_sections = (section for section in self._sections if section.flags & _EXECUTE)
        return [(section.address, section.address + max(section.room, section.size)) for section in code_sections]

    @property
    def has_dwarf(self) -> bool:
        """Whether it has debug information from GCC or Clang."""
        return any(self._long_name(section.name).startswith(b".debug_info") for section in self._sections)

    def _long_name(self, name: bytes) -> bytes:
        """The name of a section; `/4` is the text at byte 4 of the table after the symbols."""
        digits = name[1:].rstrip(b"\0")
        if name[:1] != b"/" or not digits.isdigit():
            return name
        start = self._strings + int(digits)
        return self.data[start : start + 16]

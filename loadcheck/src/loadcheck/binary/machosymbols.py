"""Reads the symbol table and the export trie of a Mach-O file. Every offset is checked and every loop bounded."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from loadcheck.binary.image import EXECUTABLE, Export, Import
from loadcheck.binary.text import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadcheck.binary.image import Data

_STAB, _PRIVATE, _TYPE, _EXTERNAL = 0xE0, 0x10, 0x0E, 0x01
_UNDEFINED = 0
_OBJECT_FILE = 0x66  # N_OSO: the debug map's path of an object file
_WEAK_REFERENCE = 0x40
_LAST_LIBRARY, _PROGRAM = 253, 255
_KIND, _KIND_ABSOLUTE = 0x3, 0x2
_FLAG_REEXPORT, _FLAG_RESOLVER = 0x8, 0x10
_MOST_EXPORTS = 1_000_000
_LONGEST_NAME = 1 << 16


@dataclass
class Tables:
    """Where the tables are, according to the load commands."""

    symbols: int = 0
    count: int = 0
    strings: int = 0
    strings_size: int = 0
    ranges: tuple[int, ...] = ()
    """First and number of local, external and undefined symbols (LC_DYSYMTAB)."""
    trie: tuple[int, ...] = ()
    """Offset and size of the export trie."""

    def place(self, symbols: int, count: int, strings: int, strings_size: int) -> None:
        """Store the values of LC_SYMTAB."""
        self.symbols, self.count, self.strings, self.strings_size = symbols, count, strings, strings_size


class Symbols:
    """The symbols of one thin file. Raises ValueError or struct.error if the tables are invalid."""

    def __init__(self, data: Data, order: Literal["<", ">"], *, is_64: bool, tables: Tables) -> None:
        self._data = data
        self._reading = Reading(len(data))
        self._tables = tables
        self._row = struct.Struct(order + ("IBBHQ" if is_64 else "IBBHI"))
        if tables.symbols + tables.count * self._row.size > len(data):
            raise ValueError("the symbol table extends past the end of the file")
        if tables.strings + tables.strings_size > len(data):
            raise ValueError("the string table extends past the end of the file")
        start = tables.symbols
        self._types = data[start + 4 : start + tables.count * self._row.size : self._row.size]

    @property
    def has_debug_map(self) -> bool:
        """Whether the table names the object files that hold the debug information."""
        return _OBJECT_FILE in self._types

    def imports(self, libraries: Sequence[str], *, is_two_level: bool) -> tuple[Import, ...]:
        """The undefined symbols, each with the library that it is bound to."""
        imported: list[Import] = []
        for name, kind, description, _ in self._rows(2):
            if kind & (_STAB | _TYPE) != _UNDEFINED or not kind & _EXTERNAL:
                continue
            library = _library(description >> 8, libraries) if is_two_level else ""
            is_weak = bool(description & _WEAK_REFERENCE)
            imported.append(Import(name=name, library=library, kind="weak" if is_weak else "normal"))
        return tuple(imported)

    def exports(self, base: int, code: Sequence[tuple[int, int]], libraries: Sequence[str]) -> tuple[Export, ...]:
        """What dyld finds in the file: the names of the trie, or of the symbol table if there is no trie."""
        if self._tables.trie and self._tables.trie[1]:
            return tuple(_Trie(self._data, *self._tables.trie, reading=self._reading).exports(base, code, libraries))
        return tuple(
            Export(name=name, kind=_what(value, code))
            for name, kind, _, value in self._rows(1)
            if kind & _EXTERNAL and not kind & (_STAB | _PRIVATE) and kind & _TYPE != _UNDEFINED
        )

    def _rows(self, group: int) -> Iterator[tuple[str, int, int, int]]:
        """The symbols of a group of LC_DYSYMTAB, or all without one: name, type, description, value."""
        first, number = 0, self._tables.count
        if self._tables.ranges:
            first, number = self._tables.ranges[group * 2 : group * 2 + 2]
        if first + number > self._tables.count:
            raise ValueError("a group of symbols extends past the end of the table")
        start = self._tables.symbols
        strings, end = self._tables.strings, self._tables.strings + self._tables.strings_size
        for position in range(
            start + first * self._row.size, start + (first + number) * self._row.size, self._row.size
        ):
            offset, kind, _, description, value = self._row.unpack_from(self._data, position)
            stop = self._data.find(b"\0", strings + offset, end)
            if stop < 0:
                raise ValueError("the name of a symbol is outside the string table")
            self._reading.count(stop - strings - offset)
            yield _c_name(self._data[strings + offset : stop]), kind, description, value


class _Trie:
    """The export trie: a tree whose paths are the names."""

    def __init__(self, data: Data, start: int, size: int, *, reading: Reading) -> None:
        self._reading = reading
        if start + size > len(data):
            raise ValueError("the export trie extends past the end of the file")
        self._data = data[start : start + size]

    def exports(self, base: int, code: Sequence[tuple[int, int]], libraries: Sequence[str]) -> Iterator[Export]:
        """The exported symbols in the order of the tree."""
        for name, flags, first, second in self._terminals():
            forward = ""
            if flags & _FLAG_REEXPORT:
                forward = f"{_library(first, libraries)}.{_c_name(second) if second else name}"
            address = first if flags & _KIND == _KIND_ABSOLUTE else base + first
            kind = "func" if flags & (_FLAG_RESOLVER | _FLAG_REEXPORT) else _what(address, code)
            yield Export(name=name, kind=kind, forward=forward)

    def _terminals(self) -> Iterator[tuple[str, int, int, bytes]]:
        """Name, flags, address or library ordinal of each symbol; for a re-export its name in the other file."""
        waiting: list[tuple[int, bytes]] = [(0, b"")]
        seen = {0}
        while waiting:
            position, name = waiting.pop()
            size, position = self._number(position)
            children = position + size
            if size:
                flags, position = self._number(position)
                first, position = self._number(position)
                yield _c_name(name), flags, first, self._text(position)[0] if flags & _FLAG_REEXPORT else b""
            count, position = self._data[children], children + 1
            branches: list[tuple[int, bytes]] = []
            for _ in range(count):
                edge, position = self._text(position)
                child, position = self._number(position)
                if child in seen or len(name) + len(edge) > _LONGEST_NAME or len(seen) > _MOST_EXPORTS:
                    raise ValueError("the export trie has a loop")
                seen.add(child)
                self._reading.count(len(name) + len(edge))
                branches.append((child, name + edge))
            waiting += reversed(branches)

    def _number(self, position: int) -> tuple[int, int]:
        """A ULEB128 number and the place after it."""
        value = shift = 0
        while True:
            byte = self._data[position]
            value |= (byte & 0x7F) << shift
            position, shift = position + 1, shift + 7
            if not byte & 0x80:
                return value, position
            if shift > 63:  # noqa: PLR2004  # bits of an address
                raise ValueError("a number in the export trie is too long")

    def _text(self, position: int) -> tuple[bytes, int]:
        stop = self._data.find(b"\0", position)
        if stop < 0:
            raise ValueError("a name in the export trie is not terminated")
        return self._data[position:stop], stop + 1


def _library(ordinal: int, libraries: Sequence[str]) -> str:
    """The library of an ordinal; "" for any image and for the file itself, which zig's linker uses for any image."""
    if ordinal == _PROGRAM:
        return EXECUTABLE
    return libraries[ordinal - 1] if 0 < ordinal <= min(len(libraries), _LAST_LIBRARY) else ""


def _what(address: int, code: Sequence[tuple[int, int]]) -> Literal["func", "data"]:
    return "func" if any(start <= address < stop for start, stop in code) else "data"


def _c_name(name: bytes) -> str:
    """The name in C. Compilers add one leading underscore."""
    return name.removeprefix(b"_").decode("utf-8", "backslashreplace")

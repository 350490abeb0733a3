"""Writes the objects of a stub's functions, one for each, as copies of the one that the compiler made of stub_part.c.

A linker takes from an archive the objects that a program asks for: functions that it doesn't call cost nothing, and one
that it defines itself is its own. CMake runs this file: members.py PART ROWS FOLDER. Source: elf.h of glibc.
"""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

FAILURES = ("NUMBER", "MESSAGE", "NAN", "ABORT")
"""In the order of lb_failure in stub_row.h."""
NAMES = "names"
"""The file in the folder that lists the others, as ar takes it."""
_FUNCTION, _NAME, _ROWS = "late_function", ".rodata.late_name", "_parts"


class Row(NamedTuple):
    """A function of a stub."""

    name: str
    failure: str
    """What it does without the library: one of `FAILURES`."""
    number: int
    since: tuple[int, int, int]
    """The version that has it."""


class _Layout(NamedTuple):
    """The structures of a class of ELF files."""

    head: struct.Struct
    """From e_shoff to e_shstrndx."""
    head_at: int
    section: struct.Struct
    offset_at: int
    """Where sh_offset is in it; sh_size follows."""
    symbol: int
    """The size of a symbol."""
    word: str
    values: struct.Struct
    """lb_stub_row after its name."""
    values_at: int
    """Where they are in lb_stub_part."""


_LAYOUTS: Mapping[int, _Layout] = {
    1: _Layout(struct.Struct("<IIHHHHHH"), 32, struct.Struct("<10I"), 16, 16, "I", struct.Struct("<i4I"), 8),
    2: _Layout(struct.Struct("<QIHHHHHH"), 40, struct.Struct("<IIQQQQIIQQ"), 24, 24, "Q", struct.Struct("<q4I"), 16),
}
"""By EI_CLASS."""


class _Section(NamedTuple):
    at: int
    """Where its header is."""
    name: str
    offset: int
    size: int
    link: int


class Part:
    """The object of stub_part.c. Raises ValueError for any other file."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"\x7fELF" or data[4] not in _LAYOUTS or data[5] != 1:
            raise ValueError("no ELF file of a little-endian processor")
        self._data, self._layout = data, _LAYOUTS[data[4]]
        sections = self._read_sections()
        symbols = _find(sections, ".symtab")
        self._name, self._rows, self._texts = _find(sections, _NAME), _find(sections, _ROWS), sections[symbols.link]
        if self._rows.size != self._layout.values_at + self._layout.values.size:
            raise ValueError("its row has another size")
        self._symbol_at = self._find_function(symbols)

    def _read_sections(self) -> list[_Section]:
        layout = self._layout
        start, *_, size, count, names = layout.head.unpack_from(self._data, layout.head_at)
        places = [start + size * number for number in range(count)]
        headers = [(at, layout.section.unpack_from(self._data, at)) for at in places]
        texts = headers[names][1][4]
        return [_Section(at, self._text(texts + head[0]), head[4], head[5], head[6]) for at, head in headers]

    def _text(self, at: int) -> str:
        return self._data[at : self._data.index(b"\0", at)].decode()

    def _find_function(self, symbols: _Section) -> int:
        for at in range(symbols.offset, symbols.offset + symbols.size, self._layout.symbol):
            (name,) = struct.unpack_from("<I", self._data, at)
            if self._text(self._texts.offset + name) == _FUNCTION:
                return at
        raise ValueError(f"it has no symbol {_FUNCTION}")

    def copy(self, row: Row) -> bytes:
        """The object of another function: its name as the symbol and as the row's text, and its row."""
        name = row.name.encode() + b"\0"
        texts = self._data[self._texts.offset : self._texts.offset + self._texts.size]
        copied = bytearray(self._data)
        values = (row.number, FAILURES.index(row.failure), *row.since)
        self._layout.values.pack_into(copied, self._rows.offset + self._layout.values_at, *values)
        struct.pack_into("<I", copied, self._symbol_at, len(texts))
        for section, content in ((self._texts, texts + name), (self._name, name)):
            place = section.at + self._layout.offset_at
            struct.pack_into(f"<2{self._layout.word}", copied, place, len(copied), len(content))
            copied += content
        return bytes(copied)


def _find(sections: list[_Section], ending: str) -> _Section:
    found = [section for section in sections if section.name.endswith(ending) and not section.name.startswith(".rel")]
    if len(found) != 1:
        raise ValueError(f"it has no section {ending}")
    return found[0]


def write_members(part: Path, rows: Path, folder: Path) -> None:
    """Write the object of each function, and the list of them in order, to a folder."""
    template = Part(part.read_bytes())
    folder.mkdir(exist_ok=True)
    files = []
    for number, (name, failure, value, since) in enumerate(json.loads(rows.read_text("utf-8"))):
        files.append(folder / f"{number}.o")
        files[-1].write_bytes(template.copy(Row(name, failure, value, tuple(since))))
    (folder / NAMES).write_text("".join(f'"{file.as_posix()}"\n' for file in files), "utf-8")


if __name__ == "__main__":
    write_members(*map(Path, sys.argv[1:4]))

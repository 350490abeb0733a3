"""Adds objects to the library of a stub for Linux: copies of those that the compiler made once, with other names.

One is the code that all stubs have in common, whose names become the stub's own. The others are its functions, each a
copy of stub_part.c's object: a linker takes from an archive the objects that a program asks for, so functions that it
doesn't call cost nothing, and one that it defines itself is its own. CMake runs this file, and ranlib after it:
members.py LIBRARY NAMES COMMON [PART]. Sources: elf.h and ar.h of glibc.
"""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

FAILURES = ("NUMBER", "MESSAGE", "NAN", "ABORT")
"""In the order of lb_failure in stub_row.h."""
_MEMBER = "{name:<16}{time:<12}{user:<6}{group:<6}{mode:<8}{size:<10}`\n"
"""What ar_hdr is in an archive."""
_ARCHIVE, _HEAD_SIZE = b"!<arch>\n", 60
_OWN, _WORD = re.compile(r"\Alb_(?=[a-z])"), re.compile(r"\blb_\w+")
_FUNCTION, _NAME, _ROWS = "late_function", ".rodata.late_name", "_parts"


class Row(NamedTuple):
    """A function of a stub."""

    name: str
    failure: str
    """What it does without the library: one of `FAILURES`."""
    number: int
    since: Sequence[int]
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


def rename(name: str, runtime: str, public: Collection[str] = ()) -> str:
    """The name that a runtime's stub has for one of the loader's: its own, since several may be in one program.

    The user calls those that are `public`.
    """
    return _OWN.sub(f"lb_{runtime}_" if name in public else f"lb_in_{runtime}_", name, count=1)


def rename_text(text: str, runtime: str, public: Collection[str] = (), kept: Collection[str] = ()) -> str:
    """C with those names, except those that are `kept`."""
    return _WORD.sub(lambda word: word[0] if word[0] in kept else rename(word[0], runtime, public), text)


class Object:
    """An object that the compiler made. Raises ValueError for any other file."""

    def __init__(self, data: bytes) -> None:
        if data[:4] != b"\x7fELF" or data[4] not in _LAYOUTS or data[5] != 1:
            raise ValueError("no ELF file of a little-endian processor")
        self._data, self._layout = data, _LAYOUTS[data[4]]
        self._sections = self._read_sections()
        self._symbols = _find(self._sections, ".symtab")
        self._texts = self._sections[self._symbols.link]

    def _list_symbols(self) -> Iterator[tuple[int, str]]:
        """Where each symbol is, and its name."""
        symbols = self._symbols
        for at in range(symbols.offset, symbols.offset + symbols.size, self._layout.symbol):
            (name,) = struct.unpack_from("<I", self._data, at)
            yield at, self._text(self._texts.offset + name)

    def renamed(self, rename: Callable[[str], str]) -> bytes:
        """It with other names of its symbols. Those before stay in the table of texts, which names sections, too."""
        copied = bytearray(self._data)
        texts = bytearray(self._data[self._texts.offset : self._texts.offset + self._texts.size])
        for at, name in self._list_symbols():
            if (new := rename(name)) != name:
                struct.pack_into("<I", copied, at, len(texts))
                texts += new.encode() + b"\0"
        self._move(copied, self._texts, texts)
        return bytes(copied)

    def _move(self, copied: bytearray, section: _Section, content: bytes | bytearray) -> None:
        """Put another content of a section at the end."""
        place = section.at + self._layout.offset_at
        struct.pack_into(f"<2{self._layout.word}", copied, place, len(copied), len(content))
        copied += content

    def _read_sections(self) -> list[_Section]:
        layout = self._layout
        start, *_, size, count, names = layout.head.unpack_from(self._data, layout.head_at)
        places = [start + size * number for number in range(count)]
        headers = [(at, layout.section.unpack_from(self._data, at)) for at in places]
        texts = headers[names][1][4]
        return [_Section(at, self._text(texts + head[0]), head[4], head[5], head[6]) for at, head in headers]

    def _text(self, at: int) -> str:
        return self._data[at : self._data.index(b"\0", at)].decode()


class Part(Object):
    """The object of stub_part.c. Raises ValueError for any other file."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._name, self._rows = _find(self._sections, _NAME), _find(self._sections, _ROWS)
        if self._rows.size != self._layout.values_at + self._layout.values.size:
            raise ValueError("its row has another size")
        self._symbol_at = next((at for at, name in self._list_symbols() if name == _FUNCTION), 0)
        if not self._symbol_at:
            raise ValueError(f"it has no symbol {_FUNCTION}")

    def copy(self, row: Row) -> bytes:
        """The object of another function: its name as the symbol and as the row's text, and its row."""
        name = row.name.encode() + b"\0"
        texts = self._data[self._texts.offset : self._texts.offset + self._texts.size]
        copied = bytearray(self._data)
        values = (row.number, FAILURES.index(row.failure), *row.since)
        self._layout.values.pack_into(copied, self._rows.offset + self._layout.values_at, *values)
        struct.pack_into("<I", copied, self._symbol_at, len(texts))
        self._move(copied, self._texts, texts + name)
        self._move(copied, self._name, name)
        return bytes(copied)


def _find(sections: list[_Section], ending: str) -> _Section:
    found = [section for section in sections if section.name.endswith(ending) and not section.name.startswith(".rel")]
    if len(found) != 1:
        raise ValueError(f"it has no section {ending}")
    return found[0]


def add_members(library: Path, names: Path, common: Path, part: Path | None = None) -> None:
    """Add the objects to a library, which then has no index; `names` is what `describe_names` made."""
    told = json.loads(names.read_text("utf-8"))
    objects = [Object(common.read_bytes()).renamed(lambda name: rename(name, told["runtime"], told["public"]))]
    if part:
        template = Part(part.read_bytes())
        objects += (template.copy(Row(*row)) for row in told["functions"])
    added = [_without_index(library.read_bytes())]
    for number, data in enumerate(objects):
        head = _MEMBER.format(name=f"{number}.o/", time=0, user=0, group=0, mode=644, size=len(data))
        added += [head.encode(), data, b"\n" * (len(data) % 2)]
    library.write_bytes(b"".join(added))


def _without_index(archive: bytes) -> bytes:
    """LLVM's ranlib leaves an index as it is, and ar writes one."""
    head = archive[len(_ARCHIVE) :][:_HEAD_SIZE]
    if not head.startswith(b"/ "):
        return archive
    size = int(head[48:58])
    return _ARCHIVE + archive[len(_ARCHIVE) + _HEAD_SIZE + size + size % 2 :]


def describe_names(runtime: str, public: Collection[str], functions: Collection[Row]) -> str:
    """What `add_members` needs to know of a stub, as JSON."""
    return json.dumps({"runtime": runtime, "public": sorted(public), "functions": list(functions)})


if __name__ == "__main__":
    add_members(*map(Path, sys.argv[1:]))

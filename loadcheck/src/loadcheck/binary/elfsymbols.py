"""Reads the dynamic symbols of an ELF file and their versions. Every offset is checked and every loop bounded."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from loadcheck.binary.image import Export, Import

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadcheck.binary.elffile import ElfFile
    from loadcheck.binary.image import ImportKind

_DT_HASH, _DT_SYMTAB, _DT_GNU_HASH, _DT_VERSYM = 4, 6, 0x6FFFFEF5, 0x6FFFFFF0
_DT_VERDEF, _DT_VERDEFNUM, _DT_VERNEED, _DT_VERNEEDNUM = 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
_RELOCATIONS = ((7, 8), (17, 18), (23, 2))  # table and size: DT_RELA, DT_REL, DT_JMPREL
_DT_PLTREL, _DT_RELA = 20, 7
_SHT_DYNSYM = 11
_VER_FLG_WEAK = 2
_VERSION_INDEX = 0x7FFF
_FIRST_VERSION = 2  # 0 is local, 1 global without a version
_STT_NOTYPE, _STT_SECTION, _STT_FILE = 0, 3, 4
_FUNCTION_TYPES = (2, 10)  # STT_FUNC, STT_GNU_IFUNC
_HIDDEN = (1, 2)  # STV_INTERNAL, STV_HIDDEN
_WEAK = 2
_BINDINGS = (1, _WEAK, 10)  # STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE
_SHN_UNDEF, _SHN_ABS = 0, 0xFFF1


class Versions:
    """The versions of the symbols of a file.

    `needs` has the versions that each library must have. glibc loads a file without the versions that are marked weak
    (VER_FLG_WEAK).
    """

    def __init__(self, file: ElfFile) -> None:
        self.needs: dict[str, tuple[str, ...]] = {}
        self.names: dict[int, str] = {}
        self.libraries: dict[int, str] = {}
        self._file = file
        self._left = len(file.data) // 8  # no table has more rows, and a chain may lead backwards
        self._read_needs()
        self._read_definitions()

    def _read_needs(self) -> None:
        for position in self._chain(_DT_VERNEED, _DT_VERNEEDNUM, 12):
            _, count, library, first, _ = self._file.unpack("HHIII", position)
            name = self._file.text(library)
            needed = list(self.needs.get(name, ()))
            for entry in self._rows(position + first, count, 12):
                _, flags, index, version, _ = self._file.unpack("IHHII", entry)
                self.names[index & _VERSION_INDEX] = text = self._file.text(version)
                self.libraries[index & _VERSION_INDEX] = name
                if not flags & _VER_FLG_WEAK:
                    needed.append(text)
            self.needs[name] = tuple(needed)

    def _read_definitions(self) -> None:
        for position in self._chain(_DT_VERDEF, _DT_VERDEFNUM, 16):
            _, _, index, count, _, first, _ = self._file.unpack("HHHHIII", position)
            if count and index & _VERSION_INDEX >= _FIRST_VERSION:
                (name,) = self._file.unpack("I", position + first)
                self.names[index & _VERSION_INDEX] = self._file.text(name)

    def _chain(self, table: int, number: int, link: int) -> Iterator[int]:
        if address := self._file.last(table):
            yield from self._rows(self._file.place_of(address), self._file.last(number), link)

    def _rows(self, position: int, count: int, link: int) -> Iterator[int]:
        """The places of rows, each of which stores the distance to the next one at `link`."""
        for _ in range(count):
            self._left -= 1
            if self._left < 0:
                raise ValueError("the symbol version tables contain a loop")
            yield position
            (distance,) = self._file.unpack("I", position + link)
            if not distance:
                return
            position += distance


def dynamic_symbols(file: ElfFile, versions: Versions) -> tuple[tuple[Import, ...], tuple[Export, ...]]:
    """The symbols that a file imports and exports, in the order of its table."""
    imports: list[Import] = []
    exports: list[Export] = []
    code = [(segment.address, segment.address + segment.room) for segment in file.segments if segment.is_executable]
    symbols, numbers = _tables(file)
    strings, names, libraries = file.strings, versions.names, versions.libraries
    for (offset, information, other, section, value, size), number in zip(symbols, numbers, strict=True):
        kind = information & 0xF
        if information >> 4 not in _BINDINGS or not strings[offset : offset + 1].strip(b"\0"):
            continue
        if kind in (_STT_SECTION, _STT_FILE):
            continue
        name, index = file.text(offset), number & _VERSION_INDEX
        if section == _SHN_UNDEF:
            how: ImportKind = "weak" if information >> 4 == _WEAK else "normal"
            imports.append(Import(name, names.get(index, ""), libraries.get(index, ""), how))
        elif other & 3 not in _HIDDEN and not (section == _SHN_ABS and size == 0):
            # Linkers add an absolute symbol of size 0 for each version that a file defines.
            is_code = kind in _FUNCTION_TYPES or (kind == _STT_NOTYPE and any(a <= value < z for a, z in code))
            is_weak = information >> 4 == _WEAK
            exports.append(Export(name, "func" if is_code else "data", names.get(index, ""), is_weak=is_weak))
    return tuple(imports), tuple(exports)


def list_addresses(file: ElfFile) -> Iterator[tuple[str, int]]:
    """The name and the address of each function that a file exports."""
    symbols, _ = _tables(file)
    for offset, information, _, section, value, _ in symbols:
        if information & 0xF in _FUNCTION_TYPES and section != _SHN_UNDEF:
            yield file.text(offset), value


def _tables(file: ElfFile) -> tuple[Iterator[tuple[int, ...]], Sequence[int]]:
    """Name, information, other, section, value and size of each symbol; and the version index of each."""
    size = 24 if file.is_64 else 16
    if _DT_SYMTAB not in file.dynamic:
        return iter(()), ()
    start = file.place_of(file.last(_DT_SYMTAB))
    count = _count(file, start, size)
    if start + count * size > len(file.data):
        raise ValueError("the symbol table extends past the end of the file")
    part = file.data[start : start + count * size]
    if file.is_64:
        symbols: Iterator[tuple[int, ...]] = struct.iter_unpack(f"{file.order}IBBHQQ", part)
    else:
        raw_symbols = struct.iter_unpack(f"{file.order}IIIBBH", part)
        symbols = ((name, info, other, section, value, room) for name, value, room, info, other, section in raw_symbols)
    address = file.last(_DT_VERSYM)
    return symbols, file.unpack(f"{count}H", file.place_of(address)) if address else (0,) * count


def _count(file: ElfFile, start: int, size: int) -> int:
    """The number of symbols, from section headers or hash tables: the dynamic table does not have it."""
    for section in file.sections:
        if section.kind == _SHT_DYNSYM and section.offset == start:
            return section.size // size
    if address := file.last(_DT_HASH):
        return file.unpack("II", file.place_of(address))[1]
    return max(_count_hashed(file), _count_relocated(file))


def _count_hashed(file: ElfFile) -> int:
    """One more than the highest symbol in GNU's hash table, which has the exports."""
    if not (address := file.last(_DT_GNU_HASH)):
        return 0
    position = file.place_of(address)
    buckets, first, bloom_size, _ = file.unpack("4I", position)
    table = position + 16 + bloom_size * (8 if file.is_64 else 4)
    last = max(file.unpack(f"{buckets}I", table), default=0)
    if last < first:
        return first
    while not file.unpack("I", table + (buckets + last - first) * 4)[0] & 1:
        last += 1
    return last + 1


def _count_relocated(file: ElfFile) -> int:
    """One more than the highest symbol that a relocation names: imports are in no hash table."""
    highest = -1
    for table, length in _RELOCATIONS:
        if not file.last(table):
            continue
        has_addend = table == _DT_RELA or (table == 23 and file.last(_DT_PLTREL) == _DT_RELA)  # noqa: PLR2004
        number_format, shift = ("Q", 32) if file.is_64 else ("I", 8)
        layout = struct.Struct(file.order + number_format * (3 if has_addend else 2))
        start = file.place_of(file.last(table))
        part = file.data[start : start + file.last(length) // layout.size * layout.size]
        highest = max(highest, max((relocation[1] >> shift for relocation in layout.iter_unpack(part)), default=-1))
    return highest + 1

"""Reads Mach-O files, thin and universal, into Images. Every offset is checked before it is used.

Source: mach-o/loader.h, mach-o/fat.h and mach-o/nlist.h of Apple's cctools.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from loadcheck.binary.image import Data, FileType, Image, LinkKind, python_module
from loadcheck.binary.machosymbols import Symbols, Tables
from loadcheck.binary.signature import read_signed_pages
from loadcheck.binary.text import name_in
from loadcheck.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FAT_32, _FAT_64 = bytes.fromhex("cafebabe"), bytes.fromhex("cafebabf")
_THIN: Mapping[bytes, tuple[Literal["<", ">"], bool]] = {
    bytes.fromhex("cefaedfe"): ("<", False),
    bytes.fromhex("cffaedfe"): ("<", True),
    bytes.fromhex("feedface"): (">", False),
    bytes.fromhex("feedfacf"): (">", True),
}
_ARCHIVE = b"!<arch>\n"
# CPU type to the names in wheel tags and by Apple.
_CPUS: Mapping[int, tuple[str, str]] = {
    7: ("i686", "i386"),
    12: ("armv7l", "armv7"),
    18: ("ppc", "ppc"),
    0x01000007: ("x86_64", "x86_64"),
    0x0100000C: ("aarch64", "arm64"),
    0x01000012: ("ppc64", "ppc64"),
    0x0200000C: ("arm64_32", "arm64_32"),
}
_CPU_ARM64, _SUBTYPE_ARM64E = 0x0100000C, 2
_FILE_TYPES: Mapping[int, FileType] = {
    1: "object",
    2: "executable",
    4: "core",
    6: "shared",
    7: "executable",  # dyld itself
    8: "shared",  # a bundle, such as a Python module
    9: "object",  # a stub without code
    10: "object",  # the debug companion of a stripped file
    11: "object",  # a kernel extension
}
_FLAG_TWO_LEVEL = 0x80
_LINKS: Mapping[int, LinkKind] = {
    0xC: "normal",
    0x80000018: "weak",
    0x8000001F: "reexport",
    0x20: "delay",
    0x80000023: "upward",
}
_USE_MARKER = 0x1A741800
"""In place of a timestamp: a word with flags follows (dylib_use_command)."""
_USE_FLAGS: tuple[tuple[int, LinkKind], ...] = ((1, "weak"), (2, "reexport"), (4, "upward"), (8, "delay"))
_PLATFORMS = {1: "macos", 2: "ios", 3: "tvos", 4: "watchos", 5: "bridgeos", 6: "maccatalyst", 7: "iossimulator"}
_MIN_VERSIONS = {0x24: "macos", 0x25: "ios", 0x2F: "tvos", 0x30: "watchos"}
_LC_SEGMENT, _LC_SEGMENT_64, _LC_SYMTAB, _LC_DYSYMTAB = 0x1, 0x19, 0x2, 0xB
_LC_ID, _LC_UUID, _LC_RPATH, _LC_SIGNATURE, _LC_BUILD = 0xD, 0x1B, 0x8000001C, 0x1D, 0x32
_LC_DYLD_INFO, _LC_EXPORTS_TRIE = (0x22, 0x80000022), 0x80000033
_CODE = 0x80000000 | 0x400  # S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS
_SECTION_KIND = 0xFF
_SLOT_KINDS: Mapping[int, Literal["pointers", "lazy", "stubs"]] = {6: "pointers", 7: "lazy", 8: "stubs"}


class Slots(NamedTuple):
    """A section of pointers or stubs, each for the symbol that the table of indirect symbols names for it."""

    kind: Literal["pointers", "lazy", "stubs"]
    first: int
    """Of its entries in that table."""
    number: int
    place: int
    """Where the file has the section."""


def read_macho(data: Data) -> tuple[Image, ...]:
    """The images in `data`, one for each slice.

    Raises InputError, ValueError, IndexError, RecursionError or struct.error when it is damaged or cut off.
    """
    if data[:4] not in (_FAT_32, _FAT_64):
        return (MachoFile(data).image(is_slice=False),)
    return tuple(MachoFile(part).image(is_slice=True) for part in _slices(data) if not part.startswith(_ARCHIVE))


def _slices(data: Data) -> Iterator[bytes]:
    layout = struct.Struct(">IIQQII" if data[:4] == _FAT_64 else ">IIIII")
    count = int.from_bytes(data[4:8], "big")
    if 8 + count * layout.size > len(data):
        raise InputError("the table of slices is cut off")
    if not count:
        raise InputError("a universal file without a slice")
    places = [layout.unpack_from(data, 8 + index * layout.size)[2:4] for index in range(count)]
    ordered = sorted(places)
    if any(start + size > following for (start, size), (following, _) in pairwise(ordered)):
        raise InputError("two slices overlap")
    for start, size in places:
        if start + size > len(data):
            raise InputError(f"cut off: a slice ends at byte {start + size}, but the file ends at byte {len(data)}")
        yield data[start : start + size]


@dataclass
class MachoFile:
    """The load commands of one thin file."""

    data: Data
    order: Literal["<", ">"] = "<"
    is_64: bool = True
    install_name: str = ""
    uuid_place: slice = field(default_factory=lambda: slice(0, 0))
    sections: dict[str, slice] = field(default_factory=dict)
    """Segment, section and address to the bytes in the file."""
    libraries: list[str] = field(default_factory=list)
    kinds: dict[str, LinkKind] = field(default_factory=dict)
    rpaths: list[str] = field(default_factory=list)
    platform: str = ""
    min_os: str = ""
    signature: tuple[int, ...] = ()
    """Where the code signature is, and its size."""
    has_dwarf: bool = False
    base: int = 0
    code: list[tuple[int, int]] = field(default_factory=list)
    tables: Tables = field(default_factory=Tables)
    slots: list[Slots] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Read all commands. Raises ValueError or struct.error if they are invalid."""
        if self.data[:4] not in _THIN:
            raise ValueError("a slice is not a Mach-O file")
        self.order, self.is_64 = _THIN[self.data[:4]]
        _, self.cpu, self.subtype, self.type, count, size, self.flags = self._unpack("7I", 0)
        position, end = 32 if self.is_64 else 28, (32 if self.is_64 else 28) + size
        if end > len(self.data):
            raise ValueError("the load commands extend past the end of the file")
        for _ in range(count):
            command, length = self._unpack("II", position)
            if length < 8 or position + length > end:  # noqa: PLR2004  # the two words just read
                raise ValueError(f"the load command at byte {position} has the invalid length {length}")
            self._take(command, position, length)
            position += length

    def _unpack(self, layout: str, position: int) -> tuple[int, ...]:
        return struct.unpack_from(self.order + layout, self.data, position)

    def _take(self, command: int, position: int, length: int) -> None:
        if command in (_LC_SEGMENT, _LC_SEGMENT_64):
            self._segment(position, length, is_64=command == _LC_SEGMENT_64)
        elif command in _LINKS:
            self._library(_LINKS[command], position, length)
        elif command == _LC_ID:
            self.install_name = self._string(position, length)
        elif command == _LC_RPATH:
            self.rpaths.append(self._string(position, length))
        elif command == _LC_UUID:
            self.uuid_place = slice(position + 8, position + 24)
        elif command == _LC_SIGNATURE:
            self.signature = self._unpack("II", position + 8)
        elif command == _LC_SYMTAB:
            self.tables.place(*self._unpack("4I", position + 8))
        elif command == _LC_DYSYMTAB:
            self.tables.ranges = self._unpack("6I", position + 8)
        else:
            self._take_rest(command, position)

    def _take_rest(self, command: int, position: int) -> None:
        if command == _LC_BUILD:
            number, version = self._unpack("II", position + 8)
            self.platform, self.min_os = _PLATFORMS.get(number, f"unknown-{number}"), _version(version)
        elif command in _MIN_VERSIONS:
            self.platform, self.min_os = _MIN_VERSIONS[command], _version(self._unpack("I", position + 8)[0])
        elif command in _LC_DYLD_INFO:
            self.tables.trie = self._unpack("II", position + 40)
        elif command == _LC_EXPORTS_TRIE:
            self.tables.trie = self._unpack("II", position + 8)

    def _string(self, position: int, length: int) -> str:
        (offset,) = self._unpack("I", position + 8)
        if offset >= length:
            raise ValueError(f"the name in the load command at byte {position} is outside the command")
        return name_in(self.data[position + offset : position + length])

    def _library(self, kind: LinkKind, position: int, length: int) -> None:
        name = self._string(position, length)
        offset, marker = self._unpack("II", position + 8)
        if marker == _USE_MARKER and offset >= 28:  # noqa: PLR2004  # the flags precede the name
            (flags,) = self._unpack("I", position + 24)
            kind = next((link_kind for bit, link_kind in _USE_FLAGS if flags & bit), kind)
        self.libraries.append(name)
        if kind != "normal":
            self.kinds[name] = kind

    def _segment(self, position: int, length: int, *, is_64: bool) -> None:
        head, sections = ("16sQQQQIIII", 72) if is_64 else ("16sIIIIIIII", 56)
        name, address, _, offset, size, _, _, count, _ = struct.unpack_from(self.order + head, self.data, position + 8)
        if offset + size > len(self.data):
            end = offset + size
            raise ValueError(f"cut off: a segment ends at byte {end}, but the file ends at byte {len(self.data)}")
        segment = name.rstrip(b"\0")
        self.has_dwarf |= segment == b"__DWARF"
        if segment == b"__TEXT":
            self.base = address
        layout = struct.Struct(self.order + ("16s16sQQ8I" if is_64 else "16s16s9I"))
        if sections + count * layout.size > length:
            raise ValueError(f"the section headers of the segment at byte {position} are outside its load command")
        for index in range(count):
            title, _, start, room, where, _, _, _, flags, first, size, *_ = layout.unpack_from(
                self.data, position + sections + index * layout.size
            )
            text = f"{name_in(segment)},{name_in(title)} {start:#x}+{room:#x}"
            self.sections[text] = slice(where, where + room if where else where)
            if flags & _CODE:
                self.code.append((start, start + room))
            if kind := _SLOT_KINDS.get(flags & _SECTION_KIND):
                width = size if kind == "stubs" else 8 if is_64 else 4
                self.slots.append(Slots(kind, first, room // width if width else 0, where))

    def image(self, *, is_slice: bool) -> Image:
        """The commands and their tables as one Image."""
        file_type = _FILE_TYPES.get(self.type)
        if file_type is None:
            raise ValueError(f"the file type {self.type} is unknown")
        arch, apple = _CPUS.get(self.cpu, (f"unknown-{self.cpu}",) * 2)
        if self.cpu == _CPU_ARM64 and self.subtype & 0xFFFFFF == _SUBTYPE_ARM64E:
            arch = apple = "arm64e"
        symbols = Symbols(self.data, self.order, is_64=self.is_64, tables=self.tables)
        is_linked = file_type in ("shared", "executable")
        exports = symbols.exports(self.base, self.code, self.libraries) if is_linked else ()
        is_two_level = bool(self.flags & _FLAG_TWO_LEVEL)
        imports = symbols.imports(self.libraries, is_two_level=is_two_level) if is_linked else ()
        return Image(
            format="macho",
            file_type=file_type,
            arch=arch,
            slice=apple if is_slice else "",
            soname=self.install_name,
            needed=tuple(self.libraries),
            link_kinds=self.kinds,
            imports=imports,
            exports=exports,
            rpath=tuple(self.rpaths),
            build_id=self.data[self.uuid_place].hex(),
            has_debug_info=self.has_dwarf or symbols.has_debug_map,
            python_module=python_module(exports),
            platform=self.platform,
            min_os=self.min_os,
            is_signed=bool(self.signature),
            signed_pages=read_signed_pages(self.data, *self.signature) if self.signature and is_linked else None,
        )


def _version(number: int) -> str:
    major, minor, patch = number >> 16, number >> 8 & 0xFF, number & 0xFF
    return f"{major}.{minor}.{patch}" if patch else f"{major}.{minor}"

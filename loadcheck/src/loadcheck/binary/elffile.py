"""The headers, the segments, the dynamic table and the sections of an ELF file. Every offset is checked before use."""

from __future__ import annotations

import struct
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from loadcheck.binary.text import Reading
from loadcheck.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary.image import Data

_PAGE = 4096
"""The smallest page of any architecture. glibc: "ELF load command address/offset not page-aligned"."""
_PT_LOAD, _PT_DYNAMIC, _PT_INTERP, _PT_NOTE = 1, 2, 3, 4
_SHT_PROGBITS, _SHF_EXECINSTR = 1, 4
_PF_X = 1
_DT_STRTAB, _DT_STRSZ = 5, 10
_NT_GNU_BUILD_ID = 3
_LONGEST_NAME = 1 << 16


class Segment(NamedTuple):
    """One program header."""

    kind: int
    flags: int
    offset: int
    address: int
    size: int
    """Bytes in the file."""
    room: int
    """Bytes in memory."""
    alignment: int

    @property
    def is_executable(self) -> bool:
        """Whether it is mapped as code."""
        return bool(self.flags & _PF_X)

    @property
    def is_unmappable(self) -> bool:
        """Whether its place in the file and in memory do not fit on pages of any size."""
        return self.kind == _PT_LOAD and bool(self.size) and (self.address - self.offset) % _PAGE != 0

    @property
    def is_skewed(self) -> bool:
        """Whether its address and its place in the file differ by something else than a multiple of the alignment."""
        return bool(self.size) and self.alignment > 1 and (self.address - self.offset) % self.alignment != 0


class Section(NamedTuple):
    """One section header."""

    name: bytes
    kind: int
    flags: int
    address: int
    offset: int
    size: int


class ElfFile:
    """A file of either width and byte order. Raises InputError, ValueError or struct.error if it is damaged."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self._reading = Reading(len(data))
        self.is_64 = data[4:5] == b"\2"
        self.order = ">" if data[5:6] == b"\2" else "<"
        if data[4:5] not in (b"\1", b"\2") or len(data) < (64 if self.is_64 else 52):
            raise InputError("the ELF header is cut off or has an unknown class")
        self.type, self.machine = self.unpack("HH", 16)
        self._headers = self.unpack("QQIHHHHHH" if self.is_64 else "IIIHHHHHH", 32 if self.is_64 else 28)
        self.segments = list(self._read_segments())

    def unpack(self, layout: str, position: int) -> tuple[int, ...]:
        """The numbers at a place."""
        return struct.unpack_from(self.order + layout, self.data, position)

    def _read_segments(self) -> Iterator[Segment]:
        table, entry, count = self._headers[0], self._headers[4], self._headers[5]
        if table + entry * count > len(self.data):
            raise InputError("the program headers extend past the end of the file")
        for index in range(count):
            if self.is_64:
                kind, flags, offset, address, _, size, room, page = self.unpack("IIQQQQQQ", table + entry * index)
            else:
                kind, offset, address, _, size, room, flags, page = self.unpack("8I", table + entry * index)
            yield Segment(kind, flags, offset, address, size, room, page)

    def refuse_what_loaders_refuse(self) -> None:
        """Raise InputError if the file ends before its segments do, or if loaders cannot map a segment."""
        for segment in self.segments:
            end = segment.offset + segment.size
            if segment.kind == _PT_LOAD and end > len(self.data):
                raise InputError(f"cut off: a segment ends at byte {end}, but the file ends at byte {len(self.data)}")
            if self.is_for_loaders and segment.is_unmappable:
                raise InputError(
                    f"misaligned: a segment at byte {segment.offset} cannot be mapped to address {segment.address:#x}"
                )

    @cached_property
    def is_for_loaders(self) -> bool:
        """Whether a system can load it: firmware has segments that no system maps, and asks for no loader."""
        asks = any(segment.kind in (_PT_DYNAMIC, _PT_INTERP) for segment in self.segments)
        return asks or not any(segment.is_unmappable for segment in self.segments)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """The section headers; none if they are damaged, since loaders do not read them."""
        table, entry, count, names = self._headers[1], *self._headers[6:9]
        layout, size = ("IIQQQQ", 40) if self.is_64 else ("6I", 24)
        if not table or entry < size or table + entry * count > len(self.data):
            return ()
        headers = [self.unpack(layout, table + entry * index) for index in range(count)]
        strings = headers[names][4] if names < len(headers) else len(self.data)
        return tuple(Section(self._section_name(strings + header[0]), *header[1:]) for header in headers)

    def _section_name(self, position: int) -> bytes:
        stop = self.data.find(b"\0", position, position + _LONGEST_NAME)
        return self.data[position:stop] if stop >= 0 else b""

    @cached_property
    def dynamic(self) -> dict[int, list[int]]:
        """The values of each tag of the dynamic table, in its order."""
        values: dict[int, list[int]] = {}
        table = next((segment for segment in self.segments if segment.kind == _PT_DYNAMIC), None)
        layout = struct.Struct(self.order + ("QQ" if self.is_64 else "II"))
        data = self.bytes_of(table) if table else b""
        for tag, value in layout.iter_unpack(data[: len(data) // layout.size * layout.size]):
            if tag == 0:
                break
            values.setdefault(tag, []).append(value)
        return values

    def last(self, tag: int) -> int:
        """The value of a tag of the dynamic table, or 0. Loaders use the last one."""
        return self.dynamic.get(tag, (0,))[-1]

    def bytes_of(self, part: Segment | Section) -> bytes:
        """The bytes of a segment or section in the file."""
        if part.offset + part.size > len(self.data):
            raise ValueError(f"a table ends at byte {part.offset + part.size}, past the end of the file")
        return self.data[part.offset : part.offset + part.size]

    def place_of(self, address: int) -> int:
        """Where the file stores what is mapped to an address."""
        for segment in self.segments:
            if segment.kind == _PT_LOAD and segment.address <= address < segment.address + segment.size:
                return segment.offset + address - segment.address
        raise ValueError(f"the address {address:#x} is in no segment")

    @cached_property
    def strings(self) -> bytes:
        """The names that the dynamic table and the symbols refer to."""
        if _DT_STRTAB not in self.dynamic:
            return b""
        start = self.place_of(self.last(_DT_STRTAB))
        return self.data[start : start + self.last(_DT_STRSZ)]

    def text(self, offset: int) -> str:
        """The name at an offset of `strings`."""
        return self._reading.name_at(self.strings, offset)

    def texts(self, tag: int) -> tuple[str, ...]:
        """The names that a tag of the dynamic table gives."""
        return tuple(self.text(offset) for offset in self.dynamic.get(tag, ()))

    @cached_property
    def build_id(self) -> bytes:
        """GNU's build id, or b""."""
        return self.data[self.build_id_place]

    @cached_property
    def build_id_place(self) -> slice:
        """Where the file stores its build id; an empty slice if it has none."""
        builds = (place for owner, kind, place in self._notes() if owner == b"GNU" and kind == _NT_GNU_BUILD_ID)
        return next(builds, slice(0, 0))

    def list_note_owners(self) -> frozenset[bytes]:
        """Who has written notes into the file: `GNU`, `Android`."""
        return frozenset(owner for owner, _, _ in self._notes())

    def list_notes(self, owner: bytes, kind: int) -> Iterator[bytes]:
        """The bytes of each note of one owner and kind."""
        return (self.data[place] for name, other, place in self._notes() if (name, other) == (owner, kind))

    def _notes(self) -> Iterator[tuple[bytes, int, slice]]:
        """Owner and kind of each note, and where its bytes are."""
        for segment in self.segments:
            if segment.kind != _PT_NOTE:
                continue
            position, end = segment.offset, min(segment.offset + segment.size, len(self.data))
            while position + 12 <= end:
                owner, size, kind = self.unpack("III", position)
                start = position + 12 + (owner + 3 & ~3)
                if start + size <= end:
                    name = self.data[position + 12 : position + 12 + owner].rstrip(b"\0")
                    yield name, kind, slice(start, start + size)
                position = start + (size + 3 & ~3)

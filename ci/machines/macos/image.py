"""One Mach-O file in the memory of a process: mapped, moved to where it is, with what it exports.

LIEF reads the files. To load LIEF takes longer than a small program takes to run, so what it read of a file is kept.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

    import lief

    from ci.machines.macos.processor import Processor

_PAGE = 0x1000  # of x64; arm64 has larger ones, which are whole numbers of these
_SMALLEST = 4096
"""Bytes that dyld wants at least."""
_MAGIC = {bytes.fromhex(text) for text in ("cffaedfe", "cefaedfe", "feedfacf", "feedface", "cafebabe", "cafebabf")}
_CPUS = {"arm64": "ARM64", "x86_64": "X86_64"}
_THREAD_LOCAL = ("THREAD_LOCAL_REGULAR", "THREAD_LOCAL_ZEROFILL")


class UnusableError(Exception):
    """A file that dyld would refuse; the message is what it says in parentheses."""


class Segment(NamedTuple):
    """A part of the file that is mapped: where it is in memory, and in the file."""

    address: int
    size: int
    protection: int
    place: int
    length: int


class Section(NamedTuple):
    """A part of a segment, of one of LIEF's types."""

    kind: str
    address: int
    size: int


class Library(NamedTuple):
    """A library that the file needs, by LIEF's name of the command."""

    name: str
    command: str


class Binding(NamedTuple):
    """A pointer to a symbol of another file."""

    address: int
    name: str
    ordinal: int
    addend: int
    is_weak: bool


class Rebase(NamedTuple):
    """A pointer into the file itself; `target` is None where the file has it in its place."""

    address: int
    target: int | None


class Contents(msgspec.Struct, frozen=True):
    """What a file says. Addresses are those in the file, without a slide; those of exports begin at its header."""

    base: int
    entry: int
    """Of a program."""
    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]
    libraries: tuple[Library, ...]
    """By library ordinal, from 1."""
    rpaths: tuple[str, ...]
    bindings: tuple[Binding, ...]
    rebases: tuple[Rebase, ...]
    exports: dict[str, int]


@dataclass(eq=False)
class Image:
    """A loaded file. `slide` is what has to be added to the addresses in the file."""

    path: Path
    contents: Contents
    slide: int
    dependencies: list[Image | None] = field(default_factory=list)
    """By library ordinal, from 1; None is libSystem, or a weak one that is absent."""
    is_initialized: bool = False
    references: int = 1

    @property
    def header(self) -> int:
        """The address of its header."""
        return self.contents.base + self.slide

    @property
    def size(self) -> int:
        """Bytes from its header to the end of its last segment."""
        return max(segment.address + segment.size for segment in self.contents.segments) - self.contents.base

    def contains(self, address: int) -> bool:
        """Whether an address is in it."""
        return self.header <= address < self.header + self.size

    def find_export(self, name: str) -> int | None:
        """The address of what it exports under a name, as in the file's export trie."""
        offset = self.contents.exports.get(name)
        return None if offset is None else offset + self.header

    def sections(self, *kinds: str) -> Iterator[Section]:
        """Its sections of these types."""
        return (section for section in self.contents.sections if section.kind in kinds)

    def initializers(self, processor: Processor) -> list[int]:
        """The functions that run when it is loaded, in order."""
        addresses: list[int] = []
        for section in self.sections("MOD_INIT_FUNC_POINTERS"):
            at = section.address + self.slide
            addresses += [processor.word(at + offset) for offset in range(0, section.size, 8)]
        for section in self.sections("INIT_FUNC_OFFSETS"):
            data = processor.read_bytes(section.address + self.slide, section.size)
            addresses += [self.header + int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
        return addresses

    def thread_local_template(self, processor: Processor) -> bytes:
        """What each thread's copy of its thread-local variables begins with."""
        sections = sorted(self.sections(*_THREAD_LOCAL), key=lambda section: section.address)
        if not sections:
            return b""
        start = sections[0].address
        end = max(section.address + section.size for section in sections)
        return processor.read_bytes(start + self.slide, end - start)


def read_image(path: Path, kind: str, kept: Path | None = None) -> Contents:
    """The slice of a file for a processor; what was read before is in the folder `kept`, by the content of the file.

    Raises UnusableError with dyld's words.
    """
    if not path.is_file():
        raise UnusableError("no such file" if not path.exists() else "not a file")
    if path.stat().st_size < _SMALLEST:
        raise UnusableError("file too short")
    data = path.read_bytes()
    if data[:4] not in _MAGIC:
        raise UnusableError("not a mach-o file")
    if kept is None:
        return _parse(data, kind)
    file = kept / hashlib.sha256(b"%s %s %s" % (kind.encode(), Path(__file__).read_bytes(), data)).hexdigest()
    if file.is_file():
        return msgspec.msgpack.decode(file.read_bytes(), type=Contents)
    contents = _parse(data, kind)
    kept.mkdir(parents=True, exist_ok=True)
    aside = file.with_suffix(f".{os.getpid()}")
    aside.write_bytes(msgspec.msgpack.encode(contents))
    aside.replace(file)
    return contents


def _parse(data: bytes, kind: str) -> Contents:
    import lief  # noqa: PLC0415  # slow

    lief.logging.disable()  # it reports what it cannot read of good files
    fat = lief.MachO.parse(data)
    if fat is None or not len(fat):
        raise UnusableError("not a mach-o file")
    binary = fat.take(getattr(lief.MachO.Header.CPU_TYPE, _CPUS[kind]))
    if binary is None:
        names = ",".join(sorted(str(other.header.cpu_type).rpartition(".")[2].lower() for other in fat))
        raise UnusableError(f"incompatible architecture (have '{names}', need '{kind}')")
    libraries = [library for library in binary.libraries if library.command.name != "ID_DYLIB"]
    return Contents(
        base=int(binary.imagebase),
        entry=int(binary.entrypoint) if binary.has_entrypoint else 0,
        segments=tuple(_read_segments(binary)),
        sections=tuple(Section(one.type.name, one.virtual_address, one.size) for one in binary.sections),
        libraries=tuple(Library(str(library.name), library.command.name) for library in libraries),
        rpaths=tuple(str(rpath.path) for rpath in binary.rpaths),
        bindings=tuple(_read_bindings(binary)),
        rebases=tuple(_read_rebases(binary)),
        exports={str(one.name): int(one.export_info.address) for one in binary.exported_symbols if one.export_info},
    )


def _read_segments(binary: lief.MachO.Binary) -> Iterator[Segment]:
    for segment in binary.segments:
        if str(segment.name) != "__PAGEZERO" and segment.virtual_size:
            is_constant = bool(int(segment.flags) & 0x10)  # SG_READ_ONLY: __DATA_CONST
            protection = 1 if is_constant else int(segment.init_protection)
            length = min(segment.file_size, segment.virtual_size)
            place = binary.fat_offset + segment.file_offset
            yield Segment(segment.virtual_address, segment.virtual_size, protection, place, length)


def _read_bindings(binary: lief.MachO.Binary) -> Iterator[Binding]:
    for one in binary.bindings:
        name = str(one.symbol.name) if one.symbol else ""
        yield Binding(int(one.address), name, int(one.library_ordinal), int(one.addend), bool(one.weak_import))


def _read_rebases(binary: lief.MachO.Binary) -> Iterator[Rebase]:
    import lief  # noqa: PLC0415  # as above

    for one in binary.relocations:
        if isinstance(one, lief.MachO.RelocationFixup):
            yield Rebase(int(one.address), int(one.target))
        elif isinstance(one, lief.MachO.RelocationDyld):
            yield Rebase(int(one.address), None)


def map_image(processor: Processor, path: Path, contents: Contents, at: int) -> Image:
    """Put a file into memory at an address and rebase what points into it."""
    image, data = Image(path, contents, at - contents.base), path.read_bytes()
    for segment in contents.segments:
        start = segment.address + image.slide
        processor.uc.mem_map(start, -(-segment.size // _PAGE) * _PAGE)
        processor.write(start, data[segment.place : segment.place + segment.length])
    for rebase in contents.rebases:
        address = rebase.address + image.slide
        target = processor.word(address) if rebase.target is None else rebase.target
        processor.write(address, (target + image.slide).to_bytes(8, "little"))
    return image


def protect_image(processor: Processor, image: Image) -> None:
    """Set the protection of its segments, as it is when its code runs."""
    for segment in image.contents.segments:
        size = -(-segment.size // _PAGE) * _PAGE
        processor.uc.mem_protect(segment.address + image.slide, size, segment.protection)

"""One Mach-O file in the memory of a process: mapped, moved to where it is, with what it exports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import lief

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from machines.macos.processor import Processor

_PAGE = 0x1000  # of x64; arm64 has larger ones, which are whole numbers of these
lief.logging.disable()  # it reports what it cannot read of good files
_SMALLEST = 4096
"""Bytes that dyld wants at least."""
_CPUS = {"arm64": lief.MachO.Header.CPU_TYPE.ARM64, "x86_64": lief.MachO.Header.CPU_TYPE.X86_64}
_THREAD_LOCAL = (lief.MachO.Section.TYPE.THREAD_LOCAL_REGULAR, lief.MachO.Section.TYPE.THREAD_LOCAL_ZEROFILL)


class UnusableError(Exception):
    """A file that dyld would refuse; the message is what it says in parentheses."""


@dataclass(eq=False)
class Image:
    """A loaded file. `slide` is what has to be added to the addresses in the file."""

    path: Path
    binary: lief.MachO.Binary
    slide: int
    dependencies: list[Image | None] = field(default_factory=list)
    """By library ordinal, from 1; None is libSystem, or a weak one that is absent."""
    is_initialized: bool = False
    references: int = 1

    @property
    def header(self) -> int:
        """The address of its header."""
        return int(self.binary.imagebase) + self.slide

    @property
    def size(self) -> int:
        """Bytes from its header to the end of its last segment."""
        return max(s.virtual_address + s.virtual_size for s in self.binary.segments) - int(self.binary.imagebase)

    def contains(self, address: int) -> bool:
        """Whether an address is in it."""
        return self.header <= address < self.header + self.size

    def find_export(self, name: str) -> int | None:
        """The address of what it exports under a name, as in the file's export trie."""
        for symbol in self.binary.exported_symbols:
            info = symbol.export_info
            if str(symbol.name) == name and info is not None:
                return int(info.address) + self.header
        return None

    def sections(self, *types: lief.MachO.Section.TYPE) -> Iterator[lief.MachO.Section]:
        """Its sections of these types."""
        return (section for section in self.binary.sections if section.type in types)

    def initializers(self, processor: Processor) -> list[int]:
        """The functions that run when it is loaded, in order."""
        kinds = lief.MachO.Section.TYPE
        addresses: list[int] = []
        for section in self.sections(kinds.MOD_INIT_FUNC_POINTERS):
            at = section.virtual_address + self.slide
            addresses += [processor.word(at + offset) for offset in range(0, section.size, 8)]
        for section in self.sections(kinds.INIT_FUNC_OFFSETS):
            data = processor.read_bytes(section.virtual_address + self.slide, section.size)
            addresses += [self.header + int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
        return addresses

    def thread_local_template(self, processor: Processor) -> bytes:
        """What each thread's copy of its thread-local variables begins with."""
        sections = sorted(self.sections(*_THREAD_LOCAL), key=lambda section: section.virtual_address)
        if not sections:
            return b""
        start = sections[0].virtual_address
        end = max(section.virtual_address + section.size for section in sections)
        return processor.read_bytes(start + self.slide, end - start)


def read_image(path: Path, kind: str) -> lief.MachO.Binary:
    """The slice of a file for a processor. Raises UnusableError with dyld's words."""
    if not path.is_file():
        raise UnusableError("no such file" if not path.exists() else "not a file")
    if path.stat().st_size < _SMALLEST:
        raise UnusableError("file too short")
    fat = lief.MachO.parse(str(path)) if lief.is_macho(str(path)) else None
    if fat is None or not len(fat):
        raise UnusableError("not a mach-o file")
    binary = fat.take(_CPUS[kind])
    if binary is None:
        names = ",".join(sorted(str(other.header.cpu_type).rpartition(".")[2].lower() for other in fat))
        raise UnusableError(f"incompatible architecture (have '{names}', need '{kind}')")
    return binary


def map_image(processor: Processor, path: Path, binary: lief.MachO.Binary, at: int) -> Image:
    """Put a file into memory at an address and rebase what points into it."""
    image = Image(path, binary, at - int(binary.imagebase))
    for segment in binary.segments:
        if str(segment.name) == "__PAGEZERO" or not segment.virtual_size:
            continue
        start = segment.virtual_address + image.slide
        size = -(-segment.virtual_size // _PAGE) * _PAGE
        processor.uc.mem_map(start, size)
        processor.write(start, bytes(segment.content)[: segment.virtual_size])
    for relocation in binary.relocations:
        address = int(relocation.address) + image.slide
        if isinstance(relocation, lief.MachO.RelocationFixup):
            processor.write(address, (int(relocation.target) + image.slide).to_bytes(8, "little"))
        elif isinstance(relocation, lief.MachO.RelocationDyld):
            processor.write(address, (processor.word(address) + image.slide).to_bytes(8, "little"))
    return image


def protect_image(processor: Processor, image: Image) -> None:
    """Set the protection of its segments, as it is when its code runs."""
    for segment in image.binary.segments:
        if str(segment.name) != "__PAGEZERO" and segment.virtual_size:
            size = -(-segment.virtual_size // _PAGE) * _PAGE
            is_constant = bool(int(segment.flags) & 0x10)  # SG_READ_ONLY: __DATA_CONST
            protection = 1 if is_constant else int(segment.init_protection)
            processor.uc.mem_protect(segment.virtual_address + image.slide, size, protection)

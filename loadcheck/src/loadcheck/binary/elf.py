"""Reads an ELF file into an Image.

Like loaders, it uses the dynamic table, so a file without section headers gives the same Image.
Sources: elf(5); the System V ABI; the GNU symbol versioning of the LSB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.binary.elffile import ElfFile
from loadcheck.binary.elfsymbols import Versions, dynamic_symbols
from loadcheck.binary.elfsystem import COPROCESSORS, find_system, isa_level, list_opened
from loadcheck.binary.gil import keeps_gil
from loadcheck.binary.image import Data, FileType, Image, python_module
from loadcheck.binary.text import name_in
from loadcheck.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

# As wheel platform tags spell them. EM_ARM is read as little-endian v7, the only one that tags know.
_ARCH = {
    3: "i686",
    20: "ppc",
    21: "ppc64le",
    22: "s390x",
    40: "armv7l",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
    **COPROCESSORS,
}
_FILE_TYPE: Mapping[int, FileType] = {1: "object", 2: "executable", 3: "shared", 4: "core"}
_PT_LOAD, _PT_INTERP, _PT_TLS, _PT_GNU_STACK = 1, 3, 7, 0x6474E551
_DT_NEEDED, _DT_SONAME, _DT_RPATH, _DT_RUNPATH = 1, 14, 15, 29
_DT_TEXTREL, _DT_BIND_NOW, _DT_FLAGS, _DT_FLAGS_1 = 22, 24, 30, 0x6FFFFFFB
_DF_TEXTREL, _DF_BIND_NOW, _DF_STATIC_TLS, _DF_1_NOW, _DF_1_NODELETE = 0x4, 0x8, 0x10, 0x1, 0x8
_SHT_NOBITS, _SHF_EXECINSTR = 8, 4
_DEBUG_SECTIONS = {b".debug_info", b".zdebug_info"}


def read_elf(data: Data) -> Image:
    """The image in `data`. Raises InputError, ValueError, IndexError or struct.error when it is damaged or cut off."""
    file = ElfFile(data)
    arch = _ARCH.get(file.machine, f"unknown-{file.machine}")
    if file.machine in COPROCESSORS:
        return Image(format="elf", file_type=_FILE_TYPE.get(file.type, "object"), arch=arch, is_firmware=True)
    # After `objcopy --only-keep-debug`, code is a section without bytes, and the segments end after the file.
    if any(section.kind == _SHT_NOBITS and section.flags & _SHF_EXECINSTR for section in file.sections):
        return Image(format="elf", file_type="object", arch=arch, has_debug_info=True)
    file.refuse_what_loaders_refuse()
    file_type = _FILE_TYPE.get(file.type)
    if file_type is None:
        raise InputError("the ELF type is not object, executable, shared object or core")
    needed = file.texts(_DT_NEEDED)
    interpreter = next((name_in(file.bytes_of(segment)) for segment in file.segments if segment.kind == _PT_INTERP), "")
    versions = Versions(file)
    imports, exports = dynamic_symbols(file, versions)
    text_relocations, bind_now = _flags(file)
    return Image(
        format="elf",
        file_type=file_type,
        arch=arch,
        soname=next(iter(file.texts(_DT_SONAME)), ""),
        needed=needed,
        opened=list_opened(file),
        imports=imports,
        exports=exports,
        rpath=_search_path(file, _DT_RPATH),
        runpath=_search_path(file, _DT_RUNPATH),
        version_needs=versions.needs,
        interpreter=interpreter,
        is_firmware=not file.is_for_loaders,
        system=find_system(file, needed, versions.needs, interpreter),
        exec_stack=any(segment.kind == _PT_GNU_STACK and segment.is_executable for segment in file.segments),
        text_relocations=text_relocations,
        is_bound_at_once=bind_now,
        stays_loaded=bool(file.last(_DT_FLAGS_1) & _DF_1_NODELETE),
        build_id=file.build_id.hex(),
        has_debug_info=any(section.name in _DEBUG_SECTIONS for section in file.sections),
        python_module=python_module(exports),
        page=min((segment.alignment for segment in file.segments if segment.kind == _PT_LOAD), default=0),
        static_tls=_static_tls(file),
        isa=isa_level(file),
        keeps_gil=keeps_gil(file) if arch == "x86_64" and python_module(exports) else None,
        is_skewed=any(segment.kind == _PT_LOAD and segment.is_skewed for segment in file.segments),
    )


def list_outside_code(data: Data) -> list[tuple[int, int]]:
    """The ranges of a file that no section header calls instructions; all of it if it has no section headers.

    Raises InputError, ValueError or struct.error when it is damaged.
    """
    ranges, start = [], 0
    for section in sorted(ElfFile(data).sections, key=lambda section: section.offset):
        if section.flags & _SHF_EXECINSTR and section.kind != _SHT_NOBITS:
            ranges.append((start, min(section.offset, len(data))))  # a damaged header may name any place
            start = max(start, section.offset + section.size)
    return [(first, last) for first, last in [*ranges, (start, len(data))] if first < last]


def _flags(file: ElfFile) -> tuple[bool, bool]:
    """Whether code is relocated, and whether all is bound at once: DT_FLAGS, DT_FLAGS_1 and the older single tags."""
    flags = file.last(_DT_FLAGS)
    text_relocations = _DT_TEXTREL in file.dynamic or bool(flags & _DF_TEXTREL)
    bind_now = _DT_BIND_NOW in file.dynamic or bool(flags & _DF_BIND_NOW or file.last(_DT_FLAGS_1) & _DF_1_NOW)
    return text_relocations, bind_now


def _static_tls(file: ElfFile) -> int:
    if not file.last(_DT_FLAGS) & _DF_STATIC_TLS:
        return 0
    return sum(segment.room for segment in file.segments if segment.kind == _PT_TLS)


def _search_path(file: ElfFile, tag: int) -> tuple[str, ...]:
    """The folders of DT_RPATH or DT_RUNPATH. An empty entry means the current folder and is kept."""
    return tuple(folder for text in file.texts(tag) for folder in text.split(":"))

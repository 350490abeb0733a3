"""Reads an ELF file into an Image with LIEF.

Like loaders, it uses the dynamic table, so a file without section headers gives the same Image.
"""

from __future__ import annotations

import io
import struct
import warnings
from typing import TYPE_CHECKING, Literal, NamedTuple

from latebind.binary.image import Export, FileType, Image, Import, python_module
from latebind.binary.lief_once import lief
from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_TAG = lief.ELF.DynamicEntry.TAG
_PAGE = 4096
"""The smallest page of any architecture. glibc: "ELF load command address/offset not page-aligned"."""
_PT_LOAD, _PT_GNU_STACK, _PT_GNU_RELRO = 1, 0x6474E551, 0x6474E552
_PF_X = 1
_UNDEFINED = 0
_DF_TEXTREL, _DF_BIND_NOW, _DF_1_NOW = 0x4, 0x8, 0x1

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
}
_FILE_TYPE: Mapping[int, FileType] = {1: "object", 2: "executable", 3: "shared", 4: "core"}
# Numbers of the System V ABI. LIEF's enumerations lack vendors' values and are slow for each symbol.
_STT_NOTYPE, _STT_SECTION, _STT_FILE = 0, 3, 4
_FUNCTION_TYPES = (2, 10)  # STT_FUNC, STT_GNU_IFUNC
_HIDDEN = (1, 2)  # STV_INTERNAL, STV_HIDDEN
_WEAK = 2
_VER_FLG_WEAK = 2
_SHT_NOBITS, _SHF_EXECINSTR = 8, 4
_BINDINGS = (1, _WEAK, 10)  # STB_GLOBAL, STB_WEAK, STB_GNU_UNIQUE

lief.logging.disable()


def read_elf(data: bytes, name: str) -> Image:
    """The image in `data`. Raises InputError when the file is damaged or cut off."""
    if _is_companion(data):
        machine = int.from_bytes(data[18:20], _order(data))
        arch = _ARCH.get(machine, f"unknown-{machine}")
        return Image(format="elf", file_type="object", arch=arch, has_debug_info=True)
    segments = _segments(data, name)
    with warnings.catch_warnings():
        # LIEF warns about numbers that its enumerations lack, but vendors' own types are valid.
        warnings.simplefilter("ignore", RuntimeWarning)
        binary = lief.ELF.parse(io.BytesIO(data), _config())
        if not isinstance(binary, lief.ELF.Binary):
            raise InputError("the ELF headers cannot be read", where=name)
        return _guarded(binary, data, segments, name)


def _guarded(binary: lief.ELF.Binary, data: bytes, segments: Sequence[_Segment], name: str) -> Image:
    try:
        return _image(binary, data, segments, name)
    except (UnicodeDecodeError, ValueError, RuntimeError, TypeError, SystemError) as error:
        raise InputError(f"the ELF tables cannot be read: {error}", where=name) from error


def _config() -> lief.ELF.ParserConfig:
    config = lief.ELF.ParserConfig()
    config.parse_relocations = False
    config.parse_symtab_symbols = False
    config.parse_overlay = False
    return config


def _image(binary: lief.ELF.Binary, data: bytes, segments: Sequence[_Segment], name: str) -> Image:
    entries = list(binary.dynamic_entries)
    text_relocations, bind_now = _flags(entries)
    machine = int.from_bytes(data[18:20], _order(data))
    needed = tuple(_names(entries, _TAG.NEEDED))
    interpreter = _text(binary.interpreter) if binary.has_interpreter else ""
    needs, owner = _version_needs(binary)
    imports, exports = _symbols(binary, owner, [row for row in segments if row.is_executable])
    sections = {_text(section.name) for section in binary.sections}
    file_type = _FILE_TYPE.get(int.from_bytes(data[16:18], _order(data)))
    if file_type is None:
        raise InputError("the ELF type is not object, executable, shared object or core", where=name)
    return Image(
        format="elf",
        file_type=file_type,
        arch=_ARCH.get(machine, f"unknown-{machine}"),
        soname=next(iter(_names(entries, _TAG.SONAME)), ""),
        needed=needed,
        imports=imports,
        exports=exports,
        rpath=_search_path(entries, _TAG.RPATH),
        runpath=_search_path(entries, _TAG.RUNPATH),
        version_needs=needs,
        interpreter=interpreter,
        is_static=not needed and not interpreter,
        exec_stack=any(row.kind == _PT_GNU_STACK and row.is_executable for row in segments),
        text_relocations=text_relocations,
        relro=("full" if bind_now else "partial") if any(row.kind == _PT_GNU_RELRO for row in segments) else "none",
        build_id=_build_id(binary),
        has_debug_info=bool(sections & {".debug_info", ".zdebug_info"}),
        python_module=python_module(exports),
    )


def _flags(entries: Iterable[lief.ELF.DynamicEntry]) -> tuple[bool, bool]:
    """Whether code is relocated, and whether all is bound at once: DT_FLAGS, DT_FLAGS_1 and the older single tags."""
    values = {entry.tag: entry.value for entry in entries}
    flags = values.get(_TAG.FLAGS, 0)
    text_relocations = _TAG.TEXTREL in values or bool(flags & _DF_TEXTREL)
    bind_now = _TAG.BIND_NOW in values or bool(flags & _DF_BIND_NOW or values.get(_TAG.FLAGS_1, 0) & _DF_1_NOW)
    return text_relocations, bind_now


def _names(entries: Iterable[lief.ELF.DynamicEntry], tag: object) -> Iterable[str]:
    for entry in entries:
        if entry.tag == tag and isinstance(entry, (lief.ELF.DynamicEntryLibrary, lief.ELF.DynamicSharedObject)):
            yield _text(entry.name)


def _search_path(entries: Iterable[lief.ELF.DynamicEntry], tag: object) -> tuple[str, ...]:
    """The folders of DT_RPATH or DT_RUNPATH. An empty entry means the current folder and is kept."""
    out: list[str] = []
    for entry in entries:
        if entry.tag == tag and isinstance(entry, lief.ELF.DynamicEntryRpath):
            out += _text(entry.rpath).split(":")
        elif entry.tag == tag and isinstance(entry, lief.ELF.DynamicEntryRunPath):
            out += _text(entry.runpath).split(":")
    return tuple(out)


def _version_needs(binary: lief.ELF.Binary) -> tuple[dict[str, tuple[str, ...]], dict[int, str]]:
    """The versions that must be there of each library, and the library of each version index.

    glibc loads a file without the versions that are marked weak (VER_FLG_WEAK).
    """
    needs: dict[str, tuple[str, ...]] = {}
    owner: dict[int, str] = {}
    for requirement in binary.symbols_version_requirement:
        library = _text(requirement.name)
        rows = list(requirement.get_auxiliary_symbols())
        needs[library] = (*needs.get(library, ()), *(_text(row.name) for row in rows if not row.flags & _VER_FLG_WEAK))
        owner.update({row.other & 0x7FFF: library for row in rows})
    return needs, owner


def _symbols(
    binary: lief.ELF.Binary, owner: Mapping[int, str], code: Sequence[_Segment]
) -> tuple[tuple[Import, ...], tuple[Export, ...]]:
    imports: list[Import] = []
    exports: list[Export] = []
    for symbol in binary.dynamic_symbols:
        information = symbol.information
        binding, kind_number = information >> 4, information & 0xF
        name = _text(symbol.name)
        if binding not in _BINDINGS or not name or kind_number in (_STT_SECTION, _STT_FILE):
            continue
        version, index = "", 0
        if symbol.has_version and (row := symbol.symbol_version) is not None:
            index = row.value & 0x7FFF
            auxiliary = row.symbol_version_auxiliary if row.has_auxiliary_version else None
            version = _text(auxiliary.name) if auxiliary is not None else ""
        if symbol.shndx == _UNDEFINED:
            kind: Literal["normal", "weak"] = "weak" if binding == _WEAK else "normal"
            imports.append(Import(name=name, version=version, library=owner.get(index, ""), kind=kind))
        elif symbol.other & 3 not in _HIDDEN and not _is_version_name(symbol):
            what = _what(kind_number, symbol.value, code)
            exports.append(Export(name=name, kind=what, version=version))
    return tuple(imports), tuple(exports)


def _what(kind: int, value: int, code: Sequence[_Segment]) -> Literal["func", "data"]:
    """Whether a symbol is code or data. Assembly often sets no type; then the address decides."""
    if kind == _STT_NOTYPE:
        return "func" if any(row.start <= value < row.stop for row in code) else "data"
    return "func" if kind in _FUNCTION_TYPES else "data"


def _is_version_name(symbol: lief.ELF.Symbol) -> bool:
    """Whether a symbol is the absolute one of size 0 that linkers add for each version that a file defines."""
    absolute = 0xFFF1
    return bool(symbol.shndx == absolute and symbol.size == 0)


def _build_id(binary: lief.ELF.Binary) -> str:
    for note in binary.notes:
        if note.type == lief.ELF.Note.TYPE.GNU_BUILD_ID:
            return bytes(note.description).hex()
    return ""


def _text(value: str | bytes) -> str:
    """A name as text. LIEF returns bytes if it is not UTF-8."""
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")


def _order(data: bytes) -> Literal["little", "big"]:
    return "big" if data[5:6] == b"\x02" else "little"


class _Layout(NamedTuple):
    """Where the 32-bit and the 64-bit format store each number: (offset, size) pairs."""

    header: int
    table: tuple[int, int]
    entry_size: int
    entries: int
    offset: tuple[int, int]
    length: tuple[int, int]
    flags: int
    address: tuple[int, int]
    memory: tuple[int, int]


class _Segment(NamedTuple):
    """One program header: its type, whether it is executable, and its addresses."""

    kind: int
    is_executable: bool
    start: int
    stop: int


_LAYOUTS = {
    1: _Layout(52, (28, 4), 42, 44, (4, 4), (16, 4), 24, (8, 4), (20, 4)),
    2: _Layout(64, (32, 8), 54, 56, (8, 8), (32, 8), 4, (16, 8), (40, 8)),
}


def _is_companion(data: bytes) -> bool:
    """Whether the file is what `objcopy --only-keep-debug` makes: its code is a section without bytes (SHT_NOBITS)."""
    if data[4:5] != b"\2" or len(data) < _LAYOUTS[2].header:
        return False
    order: Literal["<", ">"] = ">" if _order(data) == "big" else "<"
    (table,) = struct.unpack_from(f"{order}Q", data, 40)
    size, count = struct.unpack_from(f"{order}HH", data, 58)
    rows = range(table, min(table + size * count, len(data) - 15), max(size, 1))
    kinds = (struct.unpack_from(f"{order}IQ", data, row + 4) for row in rows)
    return any(kind == _SHT_NOBITS and flags & _SHF_EXECINSTR for kind, flags in kinds)


def _segments(data: bytes, name: str) -> list[_Segment]:
    """The program headers, read without LIEF, whose enumeration lacks vendors' types.

    Raises InputError if the file ends before its segments do. LIEF reads what is left, but loaders refuse the file.
    """
    layout = _LAYOUTS.get(data[4]) if len(data) > 4 else None  # noqa: PLR2004  # the byte EI_CLASS
    if layout is None or len(data) < layout.header:
        raise InputError("the ELF header is cut off or of an unknown class", where=name)
    order = _order(data)

    def number(start: int, size: int) -> int:
        return int.from_bytes(data[start : start + size], order)

    table, entry, count = number(*layout.table), number(layout.entry_size, 2), number(layout.entries, 2)
    if table + entry * count > len(data):
        raise InputError("the program headers are after the end of the file", where=name)
    segments: list[_Segment] = []
    for start in range(table, table + entry * count, max(entry, 1)):
        place, length = (
            number(start + layout.offset[0], layout.offset[1]),
            number(start + layout.length[0], layout.length[1]),
        )
        end = place + length
        kind = number(start, 4)
        if kind == _PT_LOAD and end > len(data):
            raise InputError(
                f"cut off: a segment ends at byte {end}, but the file ends at byte {len(data)}", where=name
            )
        address = number(start + layout.address[0], layout.address[1])
        if kind == _PT_LOAD and length and (address - place) % _PAGE:
            raise InputError(
                f"misaligned: a segment at byte {place} cannot be mapped to address {address:#x}", where=name
            )
        size = number(start + layout.memory[0], layout.memory[1])
        is_executable = bool(number(start + layout.flags, 4) & _PF_X)
        segments.append(_Segment(kind, is_executable, address, address + size))
    return segments

"""Reads a PE file into an Image with LIEF. Relocations, resources and signatures are skipped."""

from __future__ import annotations

import io
import struct
import warnings
from typing import TYPE_CHECKING, Literal, NamedTuple

from latebind.binary.image import Export, Image, Import, LinkKind, python_module
from latebind.binary.lief_once import lief
from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# As wheel platform tags spell them. LIEF recognizes ARM64EC, marked AMD64, and ARM64X, marked ARM64, by metadata.
_ARCH = {0x14C: "i686", 0x1C4: "armv7l", 0x8664: "x86_64", 0xAA64: "aarch64", 0xA641: "arm64ec", 0xA64E: "arm64x"}
_DLL, _RELOCATIONS_STRIPPED = 0x2000, 0x1
_HIGH_ENTROPY, _DYNAMIC_BASE, _NX = 0x20, 0x40, 0x100
_EXECUTE = 0x20000000
_PE32_PLUS = 0x20B
_SECURITY_DIRECTORY = 4

lief.logging.disable()


def read_pe(data: bytes, name: str) -> Image:
    """The image in `data`. Raises InputError when the file is damaged or cut off."""
    headers = _headers(data, name)
    with warnings.catch_warnings():
        # LIEF warns about numbers that its enumerations lack, but vendors' own types are valid.
        warnings.simplefilter("ignore", RuntimeWarning)
        binary = lief.PE.parse(io.BytesIO(data), _config())
        if not isinstance(binary, lief.PE.Binary):
            raise InputError("the PE headers cannot be read", where=name)
        try:
            return _image(binary, headers)
        except (UnicodeDecodeError, ValueError, RuntimeError, TypeError, SystemError) as error:
            raise InputError(f"the PE tables cannot be read: {error}", where=name) from error


def _config() -> lief.PE.ParserConfig:
    config = lief.PE.ParserConfig()
    config.parse_signature = False
    config.parse_reloc = False
    config.parse_rsrc = False
    config.parse_exceptions = False
    config.parse_arm64x_binary = False
    return config


def _image(binary: lief.PE.Binary, headers: _Headers) -> Image:
    imports = tuple(_imports(binary))
    normal = [_text(row.name) for row in binary.imports]
    delayed = [_text(row.name) for row in binary.delay_imports]
    exports = tuple(_exports(binary, headers.code))
    table = binary.get_export()
    pdb = binary.codeview_pdb
    kinds: dict[str, LinkKind] = {row: "delay" for row in delayed if row not in normal}
    arch = _ARCH.get(headers.machine, f"unknown-{headers.machine}")
    if binary.is_arm64x or binary.is_arm64ec:
        arch = "arm64x" if binary.is_arm64x else "arm64ec"
    return Image(
        format="pe",
        file_type="shared" if headers.characteristics & _DLL else "executable",
        arch=arch,
        soname=_text(table.name) if table is not None else "",
        needed=tuple(dict.fromkeys([*normal, *delayed])),
        link_kinds=kinds,
        imports=imports,
        exports=exports,
        is_static=not normal and not delayed,
        has_debug_info=headers.has_dwarf,
        python_module=python_module(exports),
        is_signed=headers.is_signed,
        aslr=headers.aslr,
        is_nx=bool(headers.flags & _NX),
        pdb=_text(pdb.filename) if pdb is not None else "",
    )


def _imports(binary: lief.PE.Binary) -> Iterator[Import]:
    for row in binary.imports:
        library = _text(row.name)
        for entry in row.entries:
            name = f"#{entry.ordinal}" if entry.is_ordinal else _text(entry.name)
            yield Import(name=name, library=library)
    for late in binary.delay_imports:
        library = _text(late.name)
        for delayed in late.entries:
            name = f"#{delayed.ordinal}" if delayed.is_ordinal else _text(delayed.name)
            yield Import(name=name, library=library, kind="delay")


def _exports(binary: lief.PE.Binary, code: Sequence[tuple[int, int]]) -> Iterator[Export]:
    table = binary.get_export()
    for entry in table.entries if table is not None else ():
        address = entry.function_rva
        if entry.is_forwarded:
            target = entry.forward_information
            forward = f"{_text(target.library)}.{_text(target.function)}"
            yield Export(name=_export_name(entry), kind="func", forward=forward)
        elif address:  # unused ordinals have none
            is_code = any(start <= address < stop for start, stop in code)
            yield Export(name=_export_name(entry), kind="func" if is_code else "data")


def _export_name(entry: lief.PE.ExportEntry) -> str:
    return _text(entry.name) or f"#{entry.ordinal}"


def _text(value: str | bytes) -> str:
    """A name as text. LIEF returns bytes if it is not UTF-8."""
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")


class _Headers(NamedTuple):
    """The headers, read without LIEF, which reads what is left of a cut-off file although loaders refuse it."""

    machine: int
    characteristics: int
    flags: int
    is_64: bool
    has_dwarf: bool
    is_signed: bool
    code: list[tuple[int, int]]

    @property
    def aslr(self) -> Literal["none", "32-bit", "full"]:
        """Whether the loader may place the file anywhere."""
        if not self.flags & _DYNAMIC_BASE or self.characteristics & _RELOCATIONS_STRIPPED:
            return "none"
        return "full" if self.flags & _HIGH_ENTROPY or not self.is_64 else "32-bit"


def _headers(data: bytes, name: str) -> _Headers:
    try:
        (start,) = struct.unpack_from("<I", data, 60)
        machine, count, _, symbols, number_of_symbols, size, characteristics = struct.unpack_from(
            "<HHIIIHH", data, start + 4
        )
        optional = start + 24
        (magic,) = struct.unpack_from("<H", data, optional)
        (flags,) = struct.unpack_from("<H", data, optional + 70)
        directories = optional + (112 if magic == _PE32_PLUS else 96)
        (number,) = struct.unpack_from("<I", data, directories - 4)
        signature = struct.unpack_from("<II", data, directories + 8 * _SECURITY_DIRECTORY)
        rows = [struct.unpack_from("<8sIIII12xI", data, optional + size + 40 * index) for index in range(count)]
    except struct.error as error:
        raise InputError(f"the PE headers are cut off: {error}", where=name) from error
    for _, _, _, length, offset, _ in rows:
        if length and offset + length > len(data):
            raise InputError(
                f"cut off: a section ends at byte {offset + length}, but the file at byte {len(data)}", where=name
            )
    strings = symbols + 18 * number_of_symbols
    return _Headers(
        machine=machine,
        characteristics=characteristics,
        flags=flags,
        is_64=magic == _PE32_PLUS,
        has_dwarf=any(_long_name(data, row[0], strings).startswith(b".debug_info") for row in rows),
        is_signed=number > _SECURITY_DIRECTORY and all(signature),
        code=[(rva, rva + max(room, length)) for _, room, rva, length, _, kind in rows if kind & _EXECUTE],
    )


def _long_name(data: bytes, name: bytes, strings: int) -> bytes:
    """The name of a section; `/4` is the text at byte 4 of the table after the symbols."""
    digits = name[1:].rstrip(b"\0")
    if name[:1] != b"/" or not digits.isdigit():
        return name
    start = strings + int(digits)
    return data[start : start + 16]

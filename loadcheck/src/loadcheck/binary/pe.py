"""Reads PE files into Images, and the import libraries of Windows. Every loop is bounded by the file.

Source: "PE Format", the specification by Microsoft.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from loadcheck.binary.image import Data, Export, Image, Import, LinkKind, python_module
from loadcheck.binary.pefile import PeFile

if TYPE_CHECKING:
    from collections.abc import Iterator

# As wheel platform tags spell them. Files with code for two processors are marked AMD64 or ARM64.
ARCHS = {0x14C: "i686", 0x1C4: "armv7l", 0x8664: "x86_64", 0xAA64: "aarch64", 0xA641: "arm64ec", 0xA64E: "arm64x"}
_HYBRID = {"x86_64": "arm64ec", "aarch64": "arm64x"}
_DLL = 0x2000
_EXPORTS, _IMPORTS, _LOAD_CONFIG, _DELAYED = 0, 1, 10, 13
_CHPE_METADATA = 200
"""Where the load configuration of a 64-bit file points to the description of code for two processors."""


def read_pe(data: Data) -> Image:
    """The image in `data`. Raises InputError, ValueError, IndexError or struct.error when it is damaged or cut off."""
    file = PeFile(data)
    normal, delayed = _libraries(_imports(file)), _libraries(_read_delayed_imports(file))
    kinds: dict[str, LinkKind] = {library: "delay" for library in delayed if library not in normal}
    arch = ARCHS.get(file.machine, f"unknown-{file.machine}")
    exports = tuple(_exports(file))
    return Image(
        format="pe",
        file_type="shared" if file.characteristics & _DLL else "executable",
        arch=_HYBRID.get(arch, arch) if _is_hybrid(file) else arch,
        soname=_own_name(file),
        needed=tuple(dict.fromkeys([*normal, *delayed])),
        link_kinds=kinds,
        imports=(
            *(Import(name, library=library) for library, names in normal.items() for name in names),
            *(Import(name, library=library, kind="delay") for library, names in delayed.items() for name in names),
        ),
        exports=exports,
        has_debug_info=file.has_dwarf,
        python_module=python_module(exports),
    )


def _libraries(pairs: Iterator[tuple[str, list[str]]]) -> dict[str, list[str]]:
    """Library to the names that are imported from it. Linkers may make several rows for one library."""
    by_library: dict[str, list[str]] = {}
    for library, names in pairs:
        by_library.setdefault(library, []).extend(names)
    return by_library


def _imports(file: PeFile) -> Iterator[tuple[str, list[str]]]:
    address, _ = file.directory(_IMPORTS)
    position = file.place_of(address) if address else 0
    while address:
        names, _, _, library, first = file.unpack("5I", position)
        if not library or not first:
            return
        yield file.text(file.place_of(library)), list(_thunks(file, names or first, 0))
        position += 20


def _read_delayed_imports(file: PeFile) -> Iterator[tuple[str, list[str]]]:
    address, _ = file.directory(_DELAYED)
    position = file.place_of(address) if address else 0
    while address:
        attributes, library, _, _, names = file.unpack("5I", position)
        if not library:
            return
        base = 0 if attributes & 1 else file.base  # Visual C++ 6 wrote addresses that count from 0
        yield file.text(file.place_of(library - base)), list(_thunks(file, names - base, base))
        position += 32


def _thunks(file: PeFile, address: int, base: int) -> Iterator[str]:
    """The names, or `#7` for numbers, in a table of imports."""
    number_format, size, ordinal = ("Q", 8, 1 << 63) if file.is_64 else ("I", 4, 1 << 31)
    position = file.place_of(address)
    while (value := file.unpack(number_format, position)[0]) != 0:
        file.reading.count(0)
        yield f"#{value & 0xFFFF}" if value & ordinal else file.text(file.place_of(value - base) + 2)
        position += size


def _own_name(file: PeFile) -> str:
    address, _ = file.directory(_EXPORTS)
    name = file.unpack("I", file.place_of(address) + 12)[0] if address else 0
    return file.text(file.place_of(name)) if name else ""


def _exports(file: PeFile) -> Iterator[Export]:
    start, size = file.directory(_EXPORTS)
    if not start:
        return
    first, count, number, functions, names, numbers = file.unpack("6I", file.place_of(start) + 16)
    addresses = file.unpack(f"{count}I", file.place_of(functions)) if count else ()
    texts = file.unpack(f"{number}I", file.place_of(names)) if number else ()
    indices = file.unpack(f"{number}H", file.place_of(numbers)) if number else ()
    named: dict[int, list[str]] = {}
    for text, index in zip(texts, indices, strict=True):
        named.setdefault(index, []).append(file.text(file.place_of(text)))
    for index, address in enumerate(addresses):
        for name in named.get(index, [f"#{first + index}"]):
            if start <= address < start + size:
                yield Export(name, "func", forward=file.text(file.place_of(address)))
            elif address:  # unused numbers have none
                is_code = any(begin <= address < end for begin, end in file.code)
                yield Export(name, "func" if is_code else "data")


def _is_hybrid(file: PeFile) -> bool:
    """Whether the file has code for two processors: ARM64EC or ARM64X."""
    address, _ = file.directory(_LOAD_CONFIG)
    if not address or not file.is_64:
        return False
    position = file.place_of(address)
    (size,) = file.unpack("I", position)
    return size >= _CHPE_METADATA + 8 and bool(file.unpack("Q", position + _CHPE_METADATA)[0])


_MAGIC = b"!<arch>\n"
_HEADER = 60
_SHORT = struct.Struct("<HHHHIIHH")


def import_library(data: bytes) -> tuple[frozenset[str], frozenset[str]] | None:
    """The members' CPUs, and the DLLs that the short imports name, in lower case; None if it is not an archive.

    Members that are damaged are left out.
    """
    if not data.startswith(_MAGIC):
        return None
    archs: set[str] = set()
    libraries: set[str] = set()
    position = len(_MAGIC)
    while position + _HEADER <= len(data):
        name, size = data[position : position + 16].strip(), data[position + 48 : position + 58].strip()
        if not size.isdigit():
            break
        start, end = position + _HEADER, position + _HEADER + int(size)
        member = data[start:end]
        position = end + end % 2
        if name in (b"/", b"//") or len(member) < _SHORT.size:
            continue
        first, second, _, machine, *_ = _SHORT.unpack_from(member)
        is_short = (first, second) == (0, 0xFFFF)
        number = machine if is_short else first
        archs.add(ARCHS.get(number, f"unknown-{number}"))
        strings = member[_SHORT.size :].split(b"\0")
        if is_short and len(strings) > 1:
            libraries.add(strings[1].decode("utf-8", "replace").lower())
    return frozenset(archs), frozenset(libraries)

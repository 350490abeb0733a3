"""Which code of an ELF file runs when it is loaded, and for which processors its notes say that it was made.

Sources: the System V ABI and its supplement for x86-64.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from loadcheck.binary.elfsymbols import list_addresses
from loadcheck.binary.vectors import ENTRIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary.elffile import ElfFile

_PT_GNU_PROPERTY, _NT_GNU_PROPERTY, _ISA_1_NEEDED = 0x6474E553, 5, 0xC0008002
_X86_64 = 62
_DT_RELA, _DT_RELASZ, _DT_INIT_ARRAY, _DT_INIT_ARRAYSZ = 7, 8, 25, 27
_R_RELATIVE = 8
_LEVELS = {8: "x86-64-v4", 4: "x86-64-v3", 2: "x86-64-v2"}
_RELOCATION = struct.Struct("<QQQ")


def isa_level(file: ElfFile) -> str:
    """The level in the notes: from x86-64-v2, or ""."""
    notes = next((segment for segment in file.segments if segment.kind == _PT_GNU_PROPERTY), None)
    if notes is None or file.machine != _X86_64 or not file.is_64:
        return ""
    data = file.bytes_of(notes)
    position = 16  # after the sizes, the kind, and GNU as the owner
    if len(data) < position or struct.unpack_from("<I", data, 8)[0] != _NT_GNU_PROPERTY:
        return ""
    while position + 12 <= len(data):
        kind, size, value = struct.unpack_from("<III", data, position)
        if kind == _ISA_1_NEEDED:
            return next((level for bit, level in _LEVELS.items() if value & bit), "")
        position += 8 + (size + 7 & ~7)
    return ""


def list_initial(file: ElfFile) -> Iterator[tuple[str, int]]:
    """The functions that run when a 64-bit file is loaded: what each is, and where the file has it."""
    named = ((name, address) for name, address in list_addresses(file) if name.startswith(ENTRIES))
    array = ((f"the function at {address:#x} in .init_array", address) for address in _list_array(file))
    for name, address in (*named, *array):
        if any(part.is_executable and part.address <= address < part.address + part.size for part in file.segments):
            yield name, file.place_of(address)


def _list_array(file: ElfFile) -> list[int]:
    """The addresses in .init_array, which are in the file or in the relocations of the array."""
    start, size = file.last(_DT_INIT_ARRAY), file.last(_DT_INIT_ARRAYSZ)
    if not start or not size:
        return []
    place = file.place_of(start)
    stored = file.unpack(f"{size // 8}Q", place)
    if any(stored) or not file.last(_DT_RELA):
        return [address for address in stored if address]
    table = file.place_of(file.last(_DT_RELA))
    part = file.data[table : table + file.last(_DT_RELASZ) // _RELOCATION.size * _RELOCATION.size]
    return [
        addend
        for where, kind, addend in _RELOCATION.iter_unpack(part)
        if kind == _R_RELATIVE and start <= where < start + size
    ]

"""Reads whether a module for free-threaded CPython says that it needs no GIL, in its table of slots (PEP 703).

Sources: CPython's moduleobject.h and object.h (Py_GIL_DISABLED) of 3.13 and 3.14; the System V ABI for x86-64.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from loadcheck.binary.elfsymbols import list_addresses

if TYPE_CHECKING:
    from loadcheck.binary.elffile import ElfFile

_HANDS_OVER = re.compile(
    rb"(?:\xf3\x0f\x1e\xfa)?(?:\x50|\x55\x48\x89\xe5|\x48\x83\xec\x08)?\x48\x8d\x3d(?P<distance>.{4})(?:\x5d|\x58)?"
    rb"(?P<call>[\xe8\xe9]|\xff[\x15\x25])(?P<callee>.{4})",
    re.DOTALL,
)
"""`lea definition(%rip), %rdi` and a call or a jump: all that PyInit_* does in multi-phase initialization."""
_STUB = re.compile(rb"(?:\xf3\x0f\x1e\xfa)?\xf2?\xff\x25(?P<distance>.{4})", re.DOTALL)
"""A row of the PLT: a jump to the address in the GOT."""
_GIVEN_TO = "PyModuleDef_Init"
_PLACE_OF_SLOTS = 88
"""`m_slots` in PyModuleDef, whose PyObject_HEAD takes 32 bytes in a free-threaded build."""
_DT_SYMTAB, _DT_RELA, _DT_RELASZ, _DT_JMPREL, _DT_PLTRELSZ = 6, 7, 8, 23, 2
_SYMBOL_SIZE = 24
_R_RELATIVE = 8
_RELOCATION = struct.Struct("<QQQ")
_SLOT = struct.Struct("<iiQ")
_GIL, _LAST_SLOT = 4, 8
_NOT_USED = 1
_MOST_SLOTS = 16


def keeps_gil(file: ElfFile) -> bool | None:
    """Whether the table of slots lacks Py_MOD_GIL_NOT_USED; None where that is not certain.

    It is certain for modules of free-threaded CPython on x86-64 whose PyInit function gives CPython a definition with
    slots, and does nothing else: other code may fill the table first, as that of PyO3 and pybind11 does.
    """
    try:
        return _find_answer(file)
    except (ValueError, struct.error):  # no table where one was expected
        return None


def _find_answer(file: ElfFile) -> bool | None:
    address = next((address for name, address in list_addresses(file) if name.startswith("PyInit_")), None)
    if address is None or not file.is_64:
        return None
    place = file.place_of(address)
    match = _HANDS_OVER.match(file.data, place)
    if match is None:
        return None
    start = address - place
    if not _calls_init(file, start, match):
        return None
    definition = start + match.end("distance") + _number(match["distance"])
    slots = _find_target(file, definition + _PLACE_OF_SLOTS)
    return _lacks_promise(file, slots) if slots else None


def _number(distance: bytes) -> int:
    return int.from_bytes(distance, "little", signed=True)


def _calls_init(file: ElfFile, start: int, match: re.Match[bytes]) -> bool:
    """Whether the function that gets the definition is PyModuleDef_Init: by the GOT, or by the PLT, which leads there.

    `start` is what addresses have more than places in the file.
    """
    entry = start + match.end("callee") + _number(match["callee"])
    if len(match["call"]) == 1:
        place = file.place_of(entry)
        stub = _STUB.match(file.data, place)
        if stub is None:
            return False
        entry += stub.end() - place + _number(stub["distance"])
    return _find_symbol(file, entry) == _GIVEN_TO


def _find_symbol(file: ElfFile, address: int) -> str:
    """The symbol whose address the loader writes to an address; "" for none."""
    for table, size in ((_DT_JMPREL, _DT_PLTRELSZ), (_DT_RELA, _DT_RELASZ)):
        start = file.place_of(file.last(table)) if file.last(table) else 0
        end = start + file.last(size) if start else 0
        for place in range(start, end - _RELOCATION.size + 1, _RELOCATION.size):
            where, information, _ = _RELOCATION.unpack_from(file.data, place)
            if where == address:
                symbol = file.place_of(file.last(_DT_SYMTAB)) + _SYMBOL_SIZE * (information >> 32)
                return file.text(file.unpack("I", symbol)[0])
    return ""


def _find_target(file: ElfFile, address: int) -> int:
    """What the loader writes to an address, by a relative relocation; 0 for none."""
    table, size = file.last(_DT_RELA), file.last(_DT_RELASZ)
    if not table:
        return 0
    start = file.place_of(table)
    wanted = struct.pack("<QQ", address, _R_RELATIVE)
    found = file.data.find(wanted, start, start + size)
    if found < 0 or (found - start) % _RELOCATION.size:
        return 0
    target: int = _RELOCATION.unpack_from(file.data, found)[2]
    return target


def _lacks_promise(file: ElfFile, slots: int) -> bool | None:
    place = file.place_of(slots)
    for index in range(_MOST_SLOTS):
        slot, padding, value = _SLOT.unpack_from(file.data, place + index * _SLOT.size)
        if slot == 0:
            return True if index else None  # an empty table may be filled later
        if padding or not 0 < slot <= _LAST_SLOT:
            return None
        if slot == _GIL:
            return bool(value != _NOT_USED)
    return None

"""Reads for which versions of NumPy a module was compiled: NumPy's headers leave a message and a number in its code.

Sources: `_import_array()` in `__multiarray_api.h` of NumPy 1.11 to 2.4, and `__Pyx_ImportType()` of Cython.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from loadcheck.binary import Data, Image

_API = b"_ARRAY_API\0"
_OF_NUMPY_1 = b"module compiled against API version 0x%x but this version of numpy is 0x%x"
_OF_NUMPY_2 = re.compile(rb"module was compiled against NumPy C-API version 0x%x \(NumPy (\d+\.\d+)\)")
# The headers compare their number with that of the running NumPy, which entry 211 of its table of functions returns.
_LOAD = rb"(?:[\x48\x4c]\x8b[\x05\x0d\x15\x1d\x25\x2d\x35\x3d].{4})?"
"""`mov distance(%rip), %reg`, which compilers put between instructions that belong together."""
_ON_X86_64 = re.compile(
    rb"\xff[\x90-\x97]\x98\x06\0\0" + _LOAD + rb"\x83\xf8(?P<number>.)" + _LOAD + rb"(?:\x0f[\x82\x83\x86\x87]|[rsvw])",
    re.DOTALL,
)
"""`call *0x698(%rax)`, `cmp $number, %eax`, and a jump: `jb` and `jae` of Visual C++, `jbe` and `ja` of others."""
_COMPARES_WITH_ONE_BEFORE = (0x6, 0x7)
_ON_ARM64 = re.compile(
    rb"[\x4c-\x4f]\x43\xf9(?:.{4}){0,3}?.[\x00-\x03]\x3f\xd6(?:.{4}){0,4}?\x1f(?P<number>.)\0\x71(?:.{4}){0,4}?"
    rb"[\x08\x09\x28\x29\x48\x49\x68\x69\x88\x89\xa8\xa9\xc8\xc9\xe8\xe9]..\x54",
    re.DOTALL,
)
"""`ldr x8, [x8, #1688]`, `blr x8`, `cmp w0, #number`, and `b.hi` or `b.ls`."""
_FIRST_WITH: Mapping[int, str] = {
    10: "1.10", 11: "1.13", 12: "1.14", 13: "1.16", 14: "1.20", 15: "1.22", 16: "1.23", 17: "1.25", 18: "2.0",
}  # fmt: skip
"""NumPy's C API by number: the version of NumPy that first had it (numpyconfig.h)."""
_OF_CYTHON = b"size changed, may indicate binary incompatibility. Expected %zd from C header, got %zd from PyObject"
_UFUNC = b"\0ufunc\0"
_FIRST_WITH_UFUNC: Mapping[int, str] = {216: "1.16", 232: "1.22"}
"""The size of PyUFuncObject with 8 bytes for a pointer: the version of NumPy that first had it."""
_IMPORTS_TYPE = re.compile(
    rb"(?:\x48\x8d[\x15\x35].{4}|[\x48\x4c]\x89.|\xb9.{4}|\x41[\xb8\xb9].{4}){4,6}\xe8", re.DOTALL
)
"""Arguments of a function in registers, and its call."""
_PAGE, _MOST_PAGES = 4096, 4
"""How far code may be from its place in the file: linkers move segments to other pages."""
_NAME = re.compile(rb"\x48\x8d\x15(?P<distance>.{4})", re.DOTALL)
_SIZE = re.compile(rb"\xb9(?P<size>.{4})", re.DOTALL)
_CHECKS = re.compile(rb"\x41[\xb8\xb9]\x01\0\0\0")
"""`__Pyx_ImportType_CheckSize_Warn`: an object that is smaller than expected is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumpyUse:
    """What a module that was compiled with NumPy's headers needs."""

    is_for_1: bool
    """Whether they are those of NumPy 1, whose check refuses NumPy 2."""
    minimum: str = ""
    """The oldest NumPy that the module accepts: `1.23`; "" if that is not known."""
    evidence: str = ""
    """What in the file shows the minimum."""


def find_numpy_use(data: Data, images: Iterable[Image]) -> NumpyUse | None:
    """How a module uses NumPy's C API; None if it does not, and where the file does not show it."""
    if not any(symbol.name.startswith("PyCapsule_") for image in images for symbol in image.imports):
        return None
    if data.find(_API) < 0:
        return _find_by_size(data)
    is_for_1 = data.find(_OF_NUMPY_1) >= 0
    if targets := _OF_NUMPY_2.findall(data):
        minimum = max((target.decode("ascii") for target in targets), key=_as_numbers)
        return NumpyUse(is_for_1=is_for_1, minimum=minimum, evidence=f'"NumPy C-API version" (NumPy {minimum})')
    number = max(_list_numbers(data), default=0) if is_for_1 else 0
    return NumpyUse(
        is_for_1=is_for_1,
        minimum=_FIRST_WITH.get(number, ""),
        evidence=f"compares NumPy's API version with {number:#x}",
    )


def _list_numbers(data: Data) -> Iterator[int]:
    """The API versions with which the code compares NumPy's: some compilers compare with the one before."""
    for match in _ON_X86_64.finditer(data):
        yield match["number"][0] + (match[0][-1] & 0xF in _COMPARES_WITH_ONE_BEFORE)
    for match in _ON_ARM64.finditer(data):
        yield (match["number"][0] >> 2) + 1


def _find_by_size(data: Data) -> NumpyUse | None:
    """Cython compares the size of NumPy's ufunc with that in the headers, in modules that use nothing else of NumPy."""
    if data.find(_OF_CYTHON) < 0 or data.find(_UFUNC) < 0:
        return None
    for call in _IMPORTS_TYPE.finditer(data):
        name, size = _NAME.search(call[0]), _SIZE.search(call[0])
        if name is None or size is None or not _CHECKS.search(call[0]):
            continue
        (distance,), (number,) = struct.unpack("<i", name["distance"]), struct.unpack("<I", size["size"])
        start = call.start() + name.end() + distance - 1
        places = (start + pages * _PAGE for pages in range(-_MOST_PAGES, _MOST_PAGES + 1))
        if number in _FIRST_WITH_UFUNC and any(data[place : place + len(_UFUNC)] == _UFUNC for place in places):
            return NumpyUse(
                is_for_1=False, minimum=_FIRST_WITH_UFUNC[number], evidence=f"expects {number} bytes for numpy.ufunc"
            )
    return None


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))

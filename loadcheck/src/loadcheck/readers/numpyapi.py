"""Reads for which versions of NumPy a module was compiled: NumPy's headers leave a message in it.

Sources: `_import_array()` in `__multiarray_api.h` of NumPy 1.11 to 2.4.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from loadcheck.readers.strings import list_windows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loadcheck.binary import Data, Image

_API = b"_ARRAY_API\0"
_OF_NUMPY_1 = b"module compiled against API version 0x%x but this version of numpy is 0x%x"
_OF_NUMPY_2 = re.compile(rb"module was compiled against NumPy C-API version 0x%x \(NumPy (\d+\.\d+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class NumpyUse:
    """What a module that was compiled with NumPy's headers needs."""

    is_for_1: bool
    """Whether they are those of NumPy 1, whose check refuses NumPy 2."""
    minimum: str = ""
    """The oldest NumPy that the module accepts: `1.23`; "" if that is not known."""


def find_numpy_use(data: Data, images: Iterable[Image]) -> NumpyUse | None:
    """How a module uses NumPy's C API; None if it does not, and where the file does not show it."""
    if not any(symbol.name.startswith("PyCapsule_") for image in images for symbol in image.imports):
        return None
    if all(data.find(_API, *window) < 0 for window in list_windows(data)):
        return None
    found = [match[1].decode("ascii") for window in list_windows(data) for match in _OF_NUMPY_2.finditer(data, *window)]
    is_for_1 = any(data.find(_OF_NUMPY_1, *window) >= 0 for window in list_windows(data))
    return NumpyUse(is_for_1=is_for_1, minimum=max(found, key=_as_numbers, default=""))


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))

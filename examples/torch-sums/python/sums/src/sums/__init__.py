"""Adds numbers with the PyTorch that is installed, whether or not it is imported."""

import ctypes
import sys
from pathlib import Path

_NAME = {"linux": "libsums.so", "darwin": "libsums.dylib", "win32": "sums.dll"}[sys.platform]
_LIBRARY = ctypes.CDLL(str(Path(__file__).with_name(_NAME)))


def add(numbers: list[float]) -> float:
    """The sum of numbers. Raises RuntimeError with what fixes it."""
    return _call(_LIBRARY.sums_add, numbers)


def add_and_free(numbers: list[float]) -> tuple[float, int]:
    """The sum of numbers, and how often PyTorch freed them. Raises RuntimeError, also with a PyTorch before 2.11."""
    freed = ctypes.c_int()
    return _call(_LIBRARY.sums_add_and_free, numbers, ctypes.byref(freed)), freed.value


def _call(function, numbers, *more):
    values, total, why = (ctypes.c_float * len(numbers))(*numbers), ctypes.c_float(), ctypes.create_string_buffer(4096)
    count, room = ctypes.c_int64(len(numbers)), ctypes.c_size_t(len(why))
    if function(values, count, ctypes.byref(total), *more, why, room):
        raise RuntimeError(why.value.decode())
    return total.value

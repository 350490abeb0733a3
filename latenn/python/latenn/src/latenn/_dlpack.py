"""Capsules around DLPack tensors; whatever may run late, on any thread, is C and no callback into Python."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int, c_void_p, py_object
from functools import cache
from typing import Any

from latenn import _native
from latenn._errors import InvalidArgumentError
from latenn._status import check
from latenn._value import Held

VERSION = (1, 1)
"""The newest DLPack that is spoken."""

# Prototypes of our own: those of ctypes.pythonapi are everybody's.
_new = ctypes.PYFUNCTYPE(py_object, c_void_p, c_void_p, c_void_p)(("PyCapsule_New", ctypes.pythonapi))
_is_valid = ctypes.PYFUNCTYPE(c_int, py_object, c_void_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_get_pointer = ctypes.PYFUNCTYPE(c_void_p, py_object, c_void_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
_set_name = ctypes.PYFUNCTYPE(c_int, py_object, c_void_p)(("PyCapsule_SetName", ctypes.pythonapi))


@cache
def _destructor() -> int:
    """The address of the C destructor, which learns first where CPython's functions are."""
    library = _native.library()
    begin = [
        ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p) for name in ("PyCapsule_IsValid", "PyCapsule_GetPointer")
    ]
    library.latenn_python_begin(*begin)
    address = ctypes.cast(library.latenn_capsule_discard, c_void_p).value
    assert address is not None  # noqa: S101  # a function that was found has one
    return address


def export(handle: Held, *, versioned: bool) -> object:
    """A capsule that holds the value until its consumer, or the capsule itself, lets go."""
    library, managed = _native.library(), c_void_p()
    destructor = _destructor()
    check(library.latenn_value_to_dlpack(handle.pointer, versioned, byref(managed)))
    capsule: object = _new(managed, library.latenn_dlpack_name(versioned, 0), destructor)
    return capsule


def take(model: c_void_p, producer: Any) -> Held:
    """Another library's tensor as a value, without a copy.

    Raises InvalidArgumentError for what is not C-contiguous or of a type that no model knows, and whatever the producer
    raises.
    """
    library, value = _native.library(), c_void_p()
    capsule = _capsule(producer)
    for versioned in (1, 0):
        name = library.latenn_dlpack_name(versioned, 0)
        if _is_valid(capsule, name):
            managed = _get_pointer(capsule, name)
            check(library.latenn_value_from_dlpack(model, managed, versioned, byref(value)))
            _set_name(capsule, library.latenn_dlpack_name(versioned, 1))
            return Held(value)
    raise InvalidArgumentError(f"{type(producer).__name__}.__dlpack__() gave no DLPack capsule that is unused.")


def _capsule(producer: Any) -> object:
    try:
        return producer.__dlpack__(max_version=VERSION)
    except TypeError:  # written before DLPack 1.0
        return producer.__dlpack__()

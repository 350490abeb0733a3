"""What a caller binds, as values: his own memory where it can be used as it is, one copy of it where not."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from latenn import _dlpack, _tensors, _value, _values
from latenn._errors import InvalidArgumentError, LatennError
from latenn._tensor import Tensor

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from latenn._value import Held


@dataclass(frozen=True)
class Given:
    """A value and what the caller gave for it."""

    given: Any
    held: Held
    writable: bool


def as_input(model: ctypes.c_void_p, name: str, number: int, value: Any, copy: bool | None) -> Given:  # noqa: FBT001  # as NumPy has it
    """A value for an input. `copy` is None (where needed) or False (never: InvalidArgumentError instead)."""
    if isinstance(value, Tensor):
        return Given(value, value._held, writable=True)  # noqa: SLF001  # the same package
    taken = _take(model, name, value, strict=copy is False)
    if taken is not None:
        return Given(value, taken, writable=taken.writable)
    array, is_own = _array(name, number, value)
    if is_own and number not in _tensors.PACKED and _is_plain(array):
        return Given(value, _value.wrap(model, number, array), writable=bool(array.flags.writeable))
    if copy is False:
        raise InvalidArgumentError(
            f"input {name!r} must be copied, and copy is False. Give an array that is C-contiguous and aligned, of "
            f"{_tensors.NAMES[number]}, in which no element shares its byte."
        )
    shape = array.shape
    if number not in _tensors.PACKED:
        return Given(value, _value.wrap(model, number, array.copy()), writable=True)
    handle = _value.create(model, number, shape)
    tensor, _owners = _tensors.to_tensor(name, number, array)
    ctypes.memmove(handle.tensor.data, tensor.data, tensor.bytes)
    return Given(value, handle, writable=True)


def as_output(model: ctypes.c_void_p, name: str, number: int, value: Any) -> Given:
    """A place for an output: always the caller's own memory, never a copy of it."""
    if isinstance(value, Tensor):
        return Given(value, value._held, writable=True)  # noqa: SLF001  # the same package
    if not isinstance(value, np.ndarray) and hasattr(value, "__dlpack__"):
        return Given(value, _taken_output(model, name, value), writable=True)
    if type(value) is not np.ndarray:
        raise _unusable(name, value, "it is not an array")
    dtype = _tensors.dtype_of(number)
    for wrong, why in (
        (value.dtype != dtype, f"it is {value.dtype}, the model gives {dtype}"),
        (number in _tensors.PACKED or number == _tensors.STRING, f"{_tensors.NAMES[number]} lies otherwise in NumPy"),
        (not value.flags.writeable, "it is read-only"),
        (not _is_plain(value), "it is not C-contiguous and aligned"),
    ):
        if wrong:
            raise _unusable(name, value, why)
    return Given(value, _value.wrap(model, number, value), writable=True)


def _taken_output(model: ctypes.c_void_p, name: str, value: Any) -> Held:
    try:
        handle = _dlpack.take(model, value)
    except Exception as error:  # another library's export may raise anything
        raise _unusable(name, value, str(error)) from error
    if not handle.writable:
        raise _unusable(name, value, "it is read-only, or cannot say that it is not")
    return handle


def _unusable(name: str, value: Any, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"output {name!r} cannot be written to this {type(value).__name__}: {why}. Give a writable C-contiguous array "
        "of the model's type and shape, or leave the output unset."
    )


def _take(model: ctypes.c_void_p, name: str, value: Any, *, strict: bool) -> Held | None:
    """What supports DLPack and is not a NumPy array, as it is; None where a copy is to be tried."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return None
    try:
        return _dlpack.take(model, value)
    except Exception as error:  # another library's export may raise anything
        if not strict and (isinstance(error, LatennError) or hasattr(value, "__array__")):
            return None
        raise InvalidArgumentError(
            f"input {name!r} is a {type(value).__name__} that cannot be used without a copy: {error}"
        ) from error


def _array(name: str, number: int, value: Any) -> tuple[NDArray[Any], bool]:
    """The array, and whether it is the caller's memory."""
    dtype = _tensors.dtype_of(number)
    if type(value) is np.ndarray:
        existing: NDArray[Any] | None = value
    else:
        existing = _values.own_array(name, value)
    array = _values.numbers(name, _tensors.NAMES[number], dtype, value) if existing is None else existing
    if array.dtype != dtype:
        raise _values.different(name, array.dtype, dtype)
    return array, existing is not None


def _is_plain(array: NDArray[Any]) -> bool:
    return bool(array.flags.c_contiguous and array.flags.aligned)

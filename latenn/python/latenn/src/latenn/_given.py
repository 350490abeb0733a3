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


def as_input(model: ctypes.c_void_p, name: str, number: int, given: Any, copy: bool | None) -> Given:  # noqa: FBT001  # as NumPy has it
    """A value for an input. `copy` is None (where needed) or False (never: InvalidArgumentError instead)."""
    if isinstance(given, Tensor):
        return Given(given, given._held, writable=True)  # noqa: SLF001  # the same package
    taken = _take(model, name, given, strict=copy is False)
    if taken is not None:
        return Given(given, taken, writable=taken.writable)
    array, is_own = _array(name, number, given)
    if is_own and number not in _tensors.PACKED and _is_plain(array):
        return Given(given, _value.wrap(model, number, array), writable=bool(array.flags.writeable))
    if copy is False:
        raise InvalidArgumentError(
            f"input {name!r} must be copied, and copy is False. Give an array that is C-contiguous and aligned, of "
            f"{_tensors.NAMES[number]}, in which no element shares its byte."
        )
    shape = array.shape
    if number not in _tensors.PACKED:
        return Given(given, _value.wrap(model, number, array.copy()), writable=True)
    held = _value.create(model, number, shape)
    tensor, _kept = _tensors.to_tensor(name, number, array)
    ctypes.memmove(held.tensor.data, tensor.data, tensor.bytes)
    return Given(given, held, writable=True)


def as_output(model: ctypes.c_void_p, name: str, number: int, given: Any) -> Given:
    """A place for an output: always the caller's own memory, never a copy of it."""
    if isinstance(given, Tensor):
        return Given(given, given._held, writable=True)  # noqa: SLF001  # the same package
    if not isinstance(given, np.ndarray) and hasattr(given, "__dlpack__"):
        return Given(given, _taken_output(model, name, given), writable=True)
    if type(given) is not np.ndarray:
        raise _unusable(name, given, "it is not an array")
    wanted = _tensors.dtype_of(number)
    for wrong, why in (
        (given.dtype != wanted, f"it is {given.dtype}, the model gives {wanted}"),
        (number in _tensors.PACKED or number == _tensors.STRING, f"{_tensors.NAMES[number]} lies otherwise in NumPy"),
        (not given.flags.writeable, "it is read-only"),
        (not _is_plain(given), "it is not C-contiguous and aligned"),
    ):
        if wrong:
            raise _unusable(name, given, why)
    return Given(given, _value.wrap(model, number, given), writable=True)


def _taken_output(model: ctypes.c_void_p, name: str, given: Any) -> Held:
    try:
        held = _dlpack.take(model, given)
    except Exception as error:  # another library's export may raise anything
        raise _unusable(name, given, str(error)) from error
    if not held.writable:
        raise _unusable(name, given, "it is read-only, or cannot say that it is not")
    return held


def _unusable(name: str, given: Any, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"output {name!r} cannot be written to this {type(given).__name__}: {why}. Give a writable C-contiguous array "
        "of the model's type and shape, or leave the output unset."
    )


def _take(model: ctypes.c_void_p, name: str, given: Any, *, strict: bool) -> Held | None:
    """What supports DLPack and is not a NumPy array, as it is; None where a copy is to be tried."""
    if isinstance(given, np.ndarray) or not hasattr(given, "__dlpack__"):
        return None
    try:
        return _dlpack.take(model, given)
    except Exception as error:  # another library's export may raise anything
        if not strict and (isinstance(error, LatennError) or hasattr(given, "__array__")):
            return None
        raise InvalidArgumentError(
            f"input {name!r} is a {type(given).__name__} that cannot be used without a copy: {error}"
        ) from error


def _array(name: str, number: int, given: Any) -> tuple[NDArray[Any], bool]:
    """The array, and whether it is the caller's memory."""
    wanted = _tensors.dtype_of(number)
    if type(given) is np.ndarray:
        own: NDArray[Any] | None = given
    else:
        own = _values.own_array(name, given)
    array = _values.numbers(name, _tensors.NAMES[number], wanted, given) if own is None else own
    if array.dtype != wanted:
        raise _values.different(name, array.dtype, wanted)
    return array, own is not None


def _is_plain(array: NDArray[Any]) -> bool:
    return bool(array.flags.c_contiguous and array.flags.aligned)

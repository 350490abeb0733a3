"""Arrays of what has no dtype of its own: Python's scalars and lists; must never change what a value means.

What has a dtype or a buffer keeps its own type, and it is the caller who holds that against the model's. Here a number
becomes one of the model's type when nothing of its kind is lost: an int an int within range or a float, a float a float
that stays finite, a bool a bool. Everything else is refused by name.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from latenn._errors import InvalidArgumentError

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_DEPTH = 32
"""How deep lists may be nested: the dimensions of an array in every NumPy."""

_MAX_INT_BITS = 128
"""An int with more bits than this is not written out in a message."""

_ARRAY_PROTOCOLS = ("dtype", "__array__", "__array_interface__", "__array_struct__")
_TAKEN: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "complex": (int, float, complex),
}
_PYTHON_NUMBERS = frozenset((bool, int, float, complex))
_PYTHON_LISTS = frozenset((list, tuple))


def own_array(name: str, value: object) -> NDArray[Any] | None:
    """What has a dtype or a buffer, as an array of its own type; None for anything else.

    Raises InvalidArgumentError for a masked array, and for what cannot be read.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidArgumentError(
            f"input {name!r} is a masked array, and a model knows no masks. Give array.filled(VALUE), or array.data."
        )
    try:
        if any(hasattr(value, attribute) for attribute in _ARRAY_PROTOCOLS):
            return np.asarray(value)
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
        view = _buffer(value)
        return None if view is None else np.asarray(view)
    except Exception as error:  # another library's conversion may raise anything
        raise InvalidArgumentError(
            f"input {name!r} is a {_kind(value)} that cannot be read as an array: {error}. Give a NumPy array."
        ) from error


def numbers(name: str, kind: str, dtype: np.dtype[Any], value: object) -> NDArray[Any]:
    """A scalar or a nest of lists as an array of `wanted`, the dtype of the element type that latenn calls `kind`.

    Raises InvalidArgumentError for what would lose something.
    """
    return _Numbers(name, kind, dtype).array(value, MAX_DEPTH)


def different(name: str, actual: object, expected: object) -> InvalidArgumentError:
    """The error for an array of another dtype than the model's."""
    return InvalidArgumentError(
        f"input {name!r} is {actual}, the model takes {expected}. Convert it: array.astype({str(expected)!r})."
    )


def texts(name: str, value: object) -> NDArray[Any]:
    """Strings as an array: arrays of strings as they are, a str or bytes or a nest of lists of them as objects.

    Raises InvalidArgumentError for anything else.
    """
    return _texts(name, value, MAX_DEPTH)


def _items_of(name: str, value: object, depth: int) -> list[Any]:
    """The items of a list or another sequence. Raises InvalidArgumentError for one too many inside each other."""
    if not depth:
        raise InvalidArgumentError(
            f"input {name!r} has more than {MAX_DEPTH} lists inside each other. Give a NumPy array."
        )
    return list(value)  # type: ignore[call-overload,no-any-return]  # asked of sequences only


def show_value(value: object) -> str:
    """A value in a message: short, and without what Python refuses to write out."""
    if isinstance(value, int) and value.bit_length() > _MAX_INT_BITS:
        return f"an int of {value.bit_length()} bits"
    return f"{reprlib.repr(value)} ({_kind(value)})" if value is not None else "None"


class _Numbers:
    """Makes arrays of one element type for one input."""

    def __init__(self, name: str, kind: str, dtype: np.dtype[Any]) -> None:
        self.name, self.kind, self.wanted = name, kind, dtype
        self.family = next(family for family in ("bool", "int", "float", "complex") if family in kind)
        self.taken = _TAKEN[self.family]

    def array(self, value: object, depth: int) -> NDArray[Any]:
        if type(value) in _PYTHON_NUMBERS:
            return self.row([value]).reshape(())
        existing = own_array(self.name, value) if type(value) not in _PYTHON_LISTS else None
        if existing is not None:
            if existing.dtype != self.wanted:
                raise different(self.name, existing.dtype, self.wanted)
            return existing
        if not _is_list(value):
            return self.row([value]).reshape(())
        items = _items_of(self.name, value, depth)
        if _PYTHON_NUMBERS.issuperset(map(type, items)):
            return self.row(items)
        return _stack(self.name, [self.array(item, depth - 1) for item in items])

    def row(self, values: list[Any]) -> NDArray[Any]:
        """Python scalars as a row."""
        wrong = {kind for kind in set(map(type, values)) if not self._takes(kind)}
        if wrong:
            value = next(value for value in values if type(value) in wrong)
            takes = " or ".join(kind.__name__ for kind in self.taken)
            raise InvalidArgumentError(
                f"input {self.name!r} holds {show_value(value)}, the model takes {self.wanted}. "
                f"Give {takes}, or an array of {self.wanted}."
            )
        if self.family == "bool":
            return np.array(values, dtype=self.wanted)
        return self._integers(values) if self.family == "int" else self._floats(values)

    def _takes(self, kind: type) -> bool:
        return issubclass(kind, self.taken) and (self.family == "bool" or not issubclass(kind, bool))

    def _integers(self, values: list[int]) -> NDArray[Any]:
        signed, bits = not self.kind.startswith("u"), int(self.kind.partition("int")[2])
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        if values and not low <= min(values) <= max(values) <= high:
            value = next(value for value in values if not low <= value <= high)
            raise self._too_large(value, f"from {low} to {high}")
        return np.array(values, dtype=np.int64 if signed else np.uint64).astype(self.wanted)

    def _floats(self, values: list[Any]) -> NDArray[Any]:
        try:
            wide = np.array(values, dtype=np.complex128 if self.family == "complex" else np.float64)
        except OverflowError:
            huge = next(value for value in values if isinstance(value, int) and not _fits_float(value))
            raise self._too_large(huge, "as far as that type goes") from None
        with np.errstate(all="ignore"):
            narrow = wide.astype(self.wanted)
            # A type without infinities gives NaN for what it cannot hold.
            lost = (np.isnan(narrow) != np.isnan(wide)) | (np.isinf(narrow) != np.isinf(wide))
        if lost.any():
            raise self._too_large(values[int(np.argmax(lost))], "as far as that type goes")
        return narrow

    def _too_large(self, value: object, limits: str) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"input {self.name!r} holds {show_value(value)}, which {self.wanted} cannot hold. Give numbers {limits}."
        )


def _texts(name: str, value: object, depth: int) -> NDArray[Any]:
    if isinstance(value, (str, bytes)):
        return _objects([value]).reshape(())
    existing = own_array(name, value)
    if existing is not None:
        if existing.dtype.kind not in "OUST":
            raise InvalidArgumentError(
                f"input {name!r} is {existing.dtype}, the model takes strings. Give str or bytes, in lists or arrays."
            )
        return existing
    if not _is_list(value):
        raise not_text(name, value)
    items = _items_of(name, value, depth)
    if all(isinstance(item, (str, bytes)) for item in items):
        return _objects(items)
    return _stack(name, [_texts(name, item, depth - 1).astype(object) for item in items])


def not_text(name: str, value: object) -> InvalidArgumentError:
    """The error for something else where a string belongs."""
    return InvalidArgumentError(
        f"input {name!r} holds {show_value(value)}, the model takes strings. Give str or bytes."
    )


def _objects(items: list[Any]) -> NDArray[Any]:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _stack(name: str, parts: list[NDArray[Any]]) -> NDArray[Any]:
    shapes = list(dict.fromkeys(part.shape for part in parts))
    if len(shapes) > 1:
        raise InvalidArgumentError(
            f"input {name!r} is ragged: it has items of shape {list(shapes[0])} and of shape {list(shapes[1])}. "
            "Make all items alike."
        )
    if parts[0].ndim >= MAX_DEPTH:
        raise InvalidArgumentError(f"input {name!r} has more than {MAX_DEPTH} dimensions. Give a NumPy array.")
    return np.stack(parts)


def _buffer(value: object) -> memoryview | None:
    try:
        return memoryview(value)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        return None


def _fits_float(value: int) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _kind(value: object) -> str:
    return type(value).__name__

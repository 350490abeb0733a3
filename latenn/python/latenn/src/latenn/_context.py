"""One context of the way through ctypes: what is bound to it, and how values go in and come out.

Small values of fixed shapes are in memory that is bound for good, and NumPy copies in and out: to fetch the address of
an array costs more than to copy such a one. Larger ones go in by their address. They come out in arrays that are bound
in turn, or with the runtime's memory where that would keep too much.
"""

from __future__ import annotations

import ctypes
import math
import sys
import weakref
from collections import deque
from ctypes import byref, c_char, c_int64, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from latenn import _native, _tensors, _value
from latenn._status import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from latenn._runner import Runner

_STAGED = 1 << 16
"""Bytes up to which a copy costs less than what spares it."""

BOUND = 1 << 20
"""Bytes up to which arrays are kept for outputs to come."""

_ALIGNED = 64

Side = tuple[tuple[str, int, "tuple[int, ...] | None"], ...]
"""Name, element type and shape of each input or output; None where the shape is open."""

_is_counted = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()
"""Whether the number of references is known for sure: without a GIL other threads change it while it is read."""


class Context:
    """A latenn_context, the arrays that are bound to it, and where others are described."""

    def __init__(self, runner: Runner, model: c_void_p, inputs: Side, outputs: Side) -> None:
        self._library = library = runner.library
        self.pointer = c_void_p()
        check(library.latenn_context_create(model, byref(self.pointer)))
        weakref.finalize(self, library.latenn_context_release, self.pointer).atexit = False
        self.staged = []
        self.given = []
        self.turning = []
        self.results: list[tuple[str, Callable[[], NDArray[Any]]]] = []
        self.kept: list[object] = []
        for index, (name, number, shape) in enumerate(inputs):
            dtype = _tensors.dtype_of(number)
            if _is_below(_STAGED, shape, dtype):
                memory = self._bound(library.latenn_bind_input, model, index, number, shape)
                self.staged.append((name, memory, dtype, shape))
            else:
                self.given.append(_Input(name, index, dtype, number))
        for index, (name, number, shape) in enumerate(outputs):
            dtype = _tensors.dtype_of(number)
            if _is_below(_STAGED, shape, dtype):
                self.results.append((name, self._bound(library.latenn_bind_output, model, index, number, shape).copy))
            elif shape is not None and _is_counted and _is_below(BOUND, shape, dtype):
                turning = _Turning(runner, self.pointer, index, number, shape)
                self.turning.append(turning)
                self.results.append((name, turning.view))
            else:
                self.results.append((name, _Result(library, self.pointer, index, dtype)))

    def take(self, inputs: dict[str, Any]) -> bool:
        """Whether the inputs that are not staged fit."""
        for to in self.given:
            array = inputs.get(to.name)
            if type(array) is not np.ndarray or (array.dtype is not to.dtype and array.dtype != to.dtype):
                return False
            if array.shape != to.shape:
                to.resize(array.shape)
            try:
                whole: Any = c_char.from_buffer(array)  # type: ignore[arg-type]  # a third of what array.ctypes costs
                to.tensor.data = ctypes.addressof(whole)
            except (TypeError, ValueError, BufferError):  # read-only, empty, not contiguous, or of ml_dtypes
                whole = np.ascontiguousarray(array)
                to.tensor.data = whole.ctypes.data
            self.kept.append(whole)
            if status := self._library.latenn_set_input(self.pointer, to.index, to.reference):
                self._library.latenn_status_release(status)
                return False
        return True

    def _bound(self, bind: Any, model: c_void_p, index: int, number: int, shape: Any) -> NDArray[Any]:
        memory = _aligned(shape, _tensors.dtype_of(number))
        dims = (c_int64 * (memory.ndim + 1))(*shape)
        tensor = _native.Tensor(number, memory.ndim, dims, memory.ctypes.data, memory.nbytes)
        value = c_void_p()
        check(self._library.latenn_value_wrap(model, byref(tensor), _native.CPU, None, None, byref(value)))
        try:
            check(bind(self.pointer, index, value))
        finally:
            self._library.latenn_value_release(value)
        return memory


class _Input:
    """An input that goes in by its address: its description, which stays as long as the shape does."""

    __slots__ = ("dtype", "index", "name", "reference", "shape", "tensor")

    def __init__(self, name: str, index: int, dtype: np.dtype[Any], number: int) -> None:
        self.name, self.index, self.dtype = name, index, dtype
        self.tensor = _native.Tensor(number)
        self.reference = byref(self.tensor)
        self.resize(())

    def resize(self, shape: tuple[int, ...]) -> None:
        """Describe arrays of another shape."""
        self.shape = shape
        self.tensor.rank, self.tensor.bytes = len(shape), math.prod(shape) * self.dtype.itemsize
        self.tensor.shape = (c_int64 * (len(shape) + 1))(*shape)


class _Turning:
    """Arrays that an output is bound to in turn: what nobody looks at any more is written again."""

    _KEPT = 2  # a loop looks at one result while it makes the next

    def __init__(self, runner: Runner, context: c_void_p, index: int, number: int, shape: tuple[int, ...]) -> None:
        self._runner, self._context, self._index = runner, context, index
        self._number, self._shape = number, shape
        self._bind = runner.library.latenn_bind_output
        self._all: deque[_Array] = deque(maxlen=self._KEPT)
        self._now: _Array | None = None

    def turn(self) -> None:
        """Bind one that is free."""
        for array in self._all:
            if sys.getrefcount(array.owner) == array.alone:
                break
        else:
            array = self._make()
        if array is not self._now:
            check(self._bind(self._context, self._index, array.value.pointer))
            self._now = array

    def view(self) -> NDArray[Any]:
        """A new array over what is bound now."""
        assert self._now  # noqa: S101  # turn() came before
        return self._now.whole[...]

    def _make(self) -> _Array:
        with self._runner.handle as model:
            array = _Array(model, self._number, self._shape)
        self._all.append(array)
        return array


class _Array:
    """An array, its value, and how many references there are to its memory while nobody else looks at it."""

    __slots__ = ("alone", "owner", "value", "whole")

    def __init__(self, model: c_void_p, number: int, shape: tuple[int, ...]) -> None:
        self.whole = _aligned(shape, _tensors.dtype_of(number))
        self.owner = self.whole.base  # of every view
        self.value = _value.wrap(model, number, self.whole)
        self.alone = sys.getrefcount(self.owner)


class _Result:
    """Called for a new array of an output that is not bound."""

    def __init__(self, library: ctypes.CDLL, context: c_void_p, index: int, dtype: np.dtype[Any]) -> None:
        self._library, self._context, self._index, self._dtype = library, context, index, dtype
        self._kind: Any = c_char * 0  # kept: to make one anew costs more than all the rest

    def __call__(self) -> NDArray[Any]:
        tensor = _native.Tensor()
        check(self._library.latenn_get_output(self._context, self._index, byref(tensor)))
        if tensor.bytes <= _STAGED or self._dtype.isbuiltin != 1:
            return _tensors.to_array(tensor)
        value = c_void_p()
        check(self._library.latenn_take_output(self._context, self._index, byref(value)))
        if self._kind._length_ != tensor.bytes:
            self._kind = c_char * tensor.bytes
        memory: Any = self._kind.from_address(tensor.data)
        memory.owner = _Owner(self._library.latenn_value_release, value)
        array: NDArray[Any] = np.frombuffer(memory, self._dtype).reshape(tensor.shape[: tensor.rank])
        return array


class _Owner:
    """Holds the memory of an output as long as an array looks at it."""

    __slots__ = ("_release", "_value")

    def __init__(self, release: Callable[[c_void_p], object], value: c_void_p) -> None:
        self._release, self._value = release, value

    def __del__(self) -> None:
        self._release(self._value)


def _aligned(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    size = math.prod(shape) * dtype.itemsize
    raw = np.zeros(size + _ALIGNED, np.uint8)
    start = -raw.ctypes.data % _ALIGNED
    memory: NDArray[Any] = raw[start : start + size].view(dtype).reshape(shape)
    return memory


def _is_below(limit: int, shape: tuple[int, ...] | None, dtype: np.dtype[Any]) -> bool:
    return shape is not None and math.prod(shape) * dtype.itemsize <= limit

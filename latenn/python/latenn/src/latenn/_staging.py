"""Runs through ctypes with memory that is bound for good: NumPy copies in and out, and one call of C lies between.

For models of fixed, small shapes. Fetching the address of an array costs more than copying such a one.
"""

from __future__ import annotations

import math
import weakref
from ctypes import POINTER, byref, c_int64, c_void_p, cast
from typing import TYPE_CHECKING, Any

import numpy as np

from latenn import _forks, _native, _tensors
from latenn._errors import UnsupportedError
from latenn._status import check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from latenn._runner import Port, Runner

_LARGEST = 1 << 16
"""Bytes up to which a copy costs less than what spares it."""

_ALIGNED = 64


def run(runner: Runner) -> Callable[[Mapping[str, Any]], dict[str, NDArray[Any]]] | None:
    """A function that runs the model; None for a model whose values are not all fixed, small and of NumPy's."""
    if not all(_is_small(port, number) for port, number in (*runner.inputs, *runner.outputs)):
        return None
    return _Stages(runner).run


def close(run: Any) -> None:
    """Let no run begin any more in the memory of this function."""
    run.__self__.close()


class _Stages:
    """Contexts with their memory, each for one run at a time; as many as there ever were runs at once."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._compute = runner.library.latenn_compute
        self._inputs = tuple(port.name for port, _ in runner.inputs)
        self._outputs = tuple(port.name for port, _ in runner.outputs)
        self._idle: list[_Stage] = []  # append and pop are atomic
        self._is_closed = False
        self._forks = _forks.count()

    def run(self, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """See Model.run."""
        if type(inputs) is not dict or len(inputs) != len(self._inputs) or self._forks != _forks.count():
            return self._runner.run(inputs)
        try:
            stage = self._idle.pop()
        except IndexError:
            made = self._stage()
            if made is None:
                return self._runner.run(inputs)
            stage = made
        try:
            for name, memory, dtype, shape in stage.inputs:
                array = inputs.get(name)
                if type(array) is not np.ndarray or array.shape != shape or array.dtype != dtype:
                    return self._runner.run(inputs)
                memory[...] = array
            if status := self._compute(stage.context):
                check(status)
            return {name: memory.copy() for name, memory in stage.outputs}
        finally:
            self._idle.append(stage)
            if self._is_closed:
                self._idle.clear()

    def close(self) -> None:
        """Give back what idle runs hold."""
        self._is_closed = True
        self._idle.clear()

    def _stage(self) -> _Stage | None:
        """A new one; None when the model is closed or the backend binds nothing: the runner knows what to say."""
        if self._is_closed:
            return None
        with self._runner.handle as model:
            try:
                return _Stage(self._runner, model)
            except UnsupportedError:
                self._is_closed = True
                return None


class _Stage:
    """A context and the arrays that are bound to it."""

    def __init__(self, runner: Runner, model: c_void_p) -> None:
        library = runner.library
        self.context = c_void_p()
        check(library.latenn_context_create(model, byref(self.context)))
        self._end = weakref.finalize(self, library.latenn_context_release, self.context)
        self._end.atexit = False  # a run may be under way in another thread
        self._kept: list[object] = []
        self.inputs = []
        self.outputs = []
        for index, (port, number) in enumerate(runner.inputs):
            memory = self._bound(library, library.latenn_bind_input, model, index, port, number)
            self.inputs.append((port.name, memory, memory.dtype, memory.shape))
        for index, (port, number) in enumerate(runner.outputs):
            self.outputs.append((port.name, self._bound(library, library.latenn_bind_output, model, index, port, number)))

    def _bound(self, library: Any, bind: Any, model: c_void_p, index: int, port: Port, number: int) -> NDArray[Any]:
        memory = _aligned(port.shape, _tensors.dtype_of(number))
        shape = (c_int64 * (memory.ndim + 1))(*memory.shape)
        tensor = _native.Tensor(number, memory.ndim, cast(shape, POINTER(c_int64)), memory.ctypes.data, memory.nbytes)
        value = c_void_p()
        check(library.latenn_value_wrap(model, byref(tensor), _native.CPU, None, None, byref(value)))
        try:
            check(bind(self.context, index, value))
        finally:
            library.latenn_value_release(value)
        return memory


def _aligned(shape: Any, dtype: np.dtype[Any]) -> NDArray[Any]:
    size = math.prod(shape) * dtype.itemsize
    raw = np.zeros(size + _ALIGNED, np.uint8)
    start = -raw.ctypes.data % _ALIGNED
    return raw[start : start + size].view(dtype).reshape(shape)


def _is_small(port: Port, number: int) -> bool:
    if number in _tensors.PACKED or number == _tensors.STRING or port.shape is None:
        return False
    if not all(isinstance(size, int) for size in port.shape):
        return False
    try:
        dtype = _tensors.dtype_of(number)
    except UnsupportedError:
        return False
    return math.prod(size for size in port.shape if isinstance(size, int)) * dtype.itemsize <= _LARGEST

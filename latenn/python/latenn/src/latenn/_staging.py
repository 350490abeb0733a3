"""Runs through ctypes, in contexts that are kept from one run to the next.

Small values of fixed shapes lie in memory that is bound for good, and NumPy copies in and out: to fetch the address of
an array costs more than to copy such a one. Others go in by their address and, when large, come out with their memory.
"""

from __future__ import annotations

import ctypes
import math
import weakref
from ctypes import byref, c_char, c_int64, c_void_p
from typing import TYPE_CHECKING, Any

import numpy as np

from latenn import _forks, _native, _tensors
from latenn._errors import UnsupportedError
from latenn._status import check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from latenn._runner import Port, Runner

_STAGED = 1 << 16
"""Bytes up to which a copy costs less than what spares it."""

_ALIGNED = 64
_SHAPES = 16  # of a model's inputs that are remembered with those of its outputs

_Side = tuple[tuple[str, int, "tuple[int, ...] | None"], ...]
"""Name, element type and shape of each input or output; None where the shape is open."""


def run(runner: Runner) -> Callable[..., dict[str, NDArray[Any]]] | None:
    """A function that runs the model; None for a model with values that are not NumPy's, such as strings."""
    if not all(_is_plain(number) for _, number in (*runner.inputs, *runner.outputs)):
        return None
    inputs, outputs = _side(runner.inputs), _side(runner.outputs)
    fixed = all(shape is not None for _, _, shape in (*inputs, *outputs))
    return Contexts(runner, inputs, outputs).run if fixed else Shapes(runner, inputs, outputs).run


def close(run: Any) -> None:
    """Let no run begin any more in the contexts of this function."""
    run.__self__.close()


class Contexts:
    """Contexts for fixed shapes, each for one run at a time; as many as there ever were runs at once."""

    def __init__(
        self,
        runner: Runner,
        inputs: _Side,
        outputs: _Side,
        otherwise: Callable[..., dict[str, NDArray[Any]]] | None = None,
    ) -> None:
        self._runner, self._inputs, self._outputs = runner, inputs, outputs
        self._is_guess = otherwise is not None  # of the shapes of outputs
        self._otherwise = otherwise or runner.run
        self._compute = runner.library.latenn_compute
        self._count = len(inputs)
        self._idle: list[_Context] = []  # append and pop are atomic
        self._is_closed = False
        _all.add(self)

    def run(  # noqa: C901, PLR0911  # in one function: each call of Python would cost a twentieth of a small run
        self, inputs: Mapping[str, Any]
    ) -> dict[str, NDArray[Any]]:
        """See Model.run."""
        if type(inputs) is not dict or len(inputs) != self._count:
            return self._runner.run(inputs)
        try:
            context = self._idle.pop()
        except IndexError:
            made = self._make()
            if made is None:
                return self._otherwise(inputs)
            context = made
        try:
            for name, memory, dtype, shape in context.staged:
                array = inputs.get(name)
                if type(array) is not np.ndarray or array.shape != shape:
                    return self._runner.run(inputs)
                if array.dtype is not dtype and array.dtype != dtype:
                    return self._runner.run(inputs)
                memory[...] = array
            if context.given and not context.take(inputs):
                return self._runner.run(inputs)
            if status := self._compute(context.pointer):
                return self._failed(status, inputs)
            results = {}
            for name, copy in context.results:
                results[name] = copy()
            return results
        finally:
            context.kept.clear()
            self._idle.append(context)
            if self._is_closed:
                self._idle.clear()

    def close(self) -> None:
        """Give back what idle runs hold."""
        self._is_closed = True
        self._idle.clear()

    def _failed(self, status: int, inputs: dict[str, Any]) -> dict[str, NDArray[Any]]:
        if not self._is_guess:
            check(status)
        self._runner.library.latenn_status_release(status)
        self.close()
        return self._otherwise(inputs)

    def _make(self) -> _Context | None:
        """A new one; None when the model is closed or the backend binds nothing: the runner knows what to say."""
        if self._is_closed:
            return None
        with self._runner.handle as model:
            try:
                return _Context(self._runner, model, self._inputs, self._outputs)
            except UnsupportedError:
                self._is_closed = True
                return None


class Shapes:
    """Runs of a model with open shapes: those of outputs are guessed from the run before with the same inputs' shapes.

    A wrong guess is told by the runtime, and not made again.
    """

    def __init__(self, runner: Runner, inputs: _Side, outputs: _Side) -> None:
        self._runner, self._inputs, self._outputs = runner, inputs, outputs
        self._open = Contexts(runner, inputs, outputs)
        self._fixed: dict[tuple[tuple[int, ...], ...], Contexts] = {}

    def run(self, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """See Model.run."""
        try:
            contexts = self._fixed.get(tuple([array.shape for array in inputs.values()]))
        except (AttributeError, TypeError):
            return self._runner.run(inputs)
        return contexts.run(inputs) if contexts else self._learn(inputs)

    def close(self) -> None:
        """Give back what idle runs hold."""
        for contexts in (self._open, *list(self._fixed.values())):
            contexts.close()

    def _learn(self, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        results = self._open.run(inputs)
        if len(self._fixed) < _SHAPES and all(type(array) is np.ndarray for array in inputs.values()):
            key = tuple(array.shape for array in inputs.values())
            if all(array.nbytes <= _STAGED for array in (*inputs.values(), *results.values())):
                taken = tuple((name, number, inputs[name].shape) for name, number, _ in self._inputs)
                given = tuple((name, number, results[name].shape) for name, number, _ in self._outputs)
                self._fixed[key] = Contexts(self._runner, taken, given, self._open.run)
            else:
                self._fixed[key] = self._open
        return results


class _Context:
    """A latenn_context, the arrays that are bound to it, and where others are described."""

    def __init__(self, runner: Runner, model: c_void_p, inputs: _Side, outputs: _Side) -> None:
        self._library = library = runner.library
        self.pointer = c_void_p()
        check(library.latenn_context_create(model, byref(self.pointer)))
        weakref.finalize(self, library.latenn_context_release, self.pointer).atexit = False
        self.staged = []
        self.given = []
        self.results: list[tuple[str, Callable[[], NDArray[Any]]]] = []
        self.kept: list[object] = []
        for index, (name, number, shape) in enumerate(inputs):
            dtype = _tensors.dtype_of(number)
            if _is_small(shape, dtype):
                memory = self._bound(library.latenn_bind_input, model, index, number, shape)
                self.staged.append((name, memory, dtype, shape))
            else:
                self.given.append((name, index, dtype, _native.Tensor(number)))
        for index, (name, number, shape) in enumerate(outputs):
            dtype = _tensors.dtype_of(number)
            if _is_small(shape, dtype):
                self.results.append((name, self._bound(library.latenn_bind_output, model, index, number, shape).copy))
            else:
                self.results.append((name, _Result(library, self.pointer, index, dtype)))

    def take(self, inputs: dict[str, Any]) -> bool:
        """Whether the inputs that are not staged fit."""
        for name, index, dtype, tensor in self.given:
            array = inputs.get(name)
            if type(array) is not np.ndarray or array.dtype != dtype:
                return False
            try:
                whole: Any = c_char.from_buffer(array)  # type: ignore[arg-type]  # a third of what array.ctypes costs
                tensor.data = ctypes.addressof(whole)
            except (TypeError, ValueError, BufferError):  # read-only, empty, not contiguous, or of ml_dtypes
                whole = np.ascontiguousarray(array)
                tensor.data = whole.ctypes.data
            self.kept.append(whole)
            tensor.rank, tensor.bytes = array.ndim, array.nbytes
            tensor.shape = (c_int64 * (array.ndim + 1))(*array.shape)
            if status := self._library.latenn_set_input(self.pointer, index, byref(tensor)):
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


class _Result:
    """Called for a new array of an output that is not staged."""

    def __init__(self, library: ctypes.CDLL, context: c_void_p, index: int, dtype: np.dtype[Any]) -> None:
        self._library, self._context, self._index, self._dtype = library, context, index, dtype

    def __call__(self) -> NDArray[Any]:
        tensor = _native.Tensor()
        check(self._library.latenn_get_output(self._context, self._index, byref(tensor)))
        if tensor.bytes <= _STAGED or self._dtype.isbuiltin != 1:
            return _tensors.to_array(tensor)
        value = c_void_p()
        check(self._library.latenn_take_output(self._context, self._index, byref(value)))
        memory: Any = (c_char * tensor.bytes).from_address(tensor.data)
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


def _side(ports: tuple[tuple[Port, int], ...]) -> _Side:
    rows = []
    for port, number in ports:
        sizes = tuple(size for size in port.shape or () if isinstance(size, int))
        is_open = port.shape is None or len(sizes) != len(port.shape)
        rows.append((port.name, number, None if is_open else sizes))
    return tuple(rows)


def _is_small(shape: tuple[int, ...] | None, dtype: np.dtype[Any]) -> bool:
    return shape is not None and math.prod(shape) * dtype.itemsize <= _STAGED


def _is_plain(number: int) -> bool:
    if number in _tensors.PACKED or number == _tensors.STRING:
        return False
    try:
        _tensors.dtype_of(number)
    except UnsupportedError:
        return False
    return True


def _forget_all() -> None:
    """In a forked child: what came along is not used, and not released either."""
    for contexts in list(_all):
        contexts.close()


_all: weakref.WeakSet[Contexts] = weakref.WeakSet()
_forks.in_child(_forget_all)

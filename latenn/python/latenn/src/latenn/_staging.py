"""Runs through ctypes, in contexts that are kept from one run to the next; must not know how values go in and out."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from latenn import _forks, _tensors
from latenn._context import BOUND, Context, Side
from latenn._errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from latenn._runner import Port, Runner

_SHAPES = 16  # of a model's inputs that are remembered with those of its outputs


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
        inputs: Side,
        outputs: Side,
        otherwise: Callable[..., dict[str, NDArray[Any]]] | None = None,
    ) -> None:
        self._runner, self._inputs, self._outputs = runner, inputs, outputs
        self._otherwise = otherwise or runner.run
        self._compute = runner.library.latenn_compute
        self._count = len(inputs)
        self._idle: list[Context] = []  # append and pop are atomic
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
            for arrays in context.turning:
                arrays.turn()
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
        """What can be run otherwise has outputs of other shapes than were guessed, or than the model says."""
        self._runner.library.latenn_status_release(status)
        results = self._otherwise(inputs)
        self.close()
        return results

    def _make(self) -> Context | None:
        """A new one; None when the model is closed or the backend binds nothing: the runner knows what to say."""
        if self._is_closed:
            return None
        with self._runner.handle as model:
            try:
                return Context(self._runner, model, self._inputs, self._outputs)
            except UnsupportedError:
                self._is_closed = True
                return None


class Shapes:
    """Runs of a model with open shapes: those of outputs are guessed from the run before with the same inputs' shapes.

    The runtime reports a wrong guess, which is not made again.
    """

    def __init__(self, runner: Runner, inputs: Side, outputs: Side) -> None:
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
            is_small = all(array.nbytes <= BOUND for array in (*inputs.values(), *results.values()))
            if is_small and all(shape in (None, results[name].shape) for name, _, shape in self._outputs):
                taken = tuple((name, number, inputs[name].shape) for name, number, _ in self._inputs)
                given = tuple((name, number, results[name].shape) for name, number, _ in self._outputs)
                self._fixed[key] = Contexts(self._runner, taken, given, self._open.run)
            else:
                self._fixed[key] = self._open
        return results


def _side(ports: tuple[tuple[Port, int], ...]) -> Side:
    rows = []
    for port, number in ports:
        sizes = tuple(size for size in port.shape or () if isinstance(size, int))
        is_open = port.shape is None or len(sizes) != len(port.shape)
        rows.append((port.name, number, None if is_open else sizes))
    return tuple(rows)


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

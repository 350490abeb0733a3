"""Runs of a model in the careful way: takes whatever can be taken, and says what is wrong with the rest."""

from __future__ import annotations

import weakref
from ctypes import byref, c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from latenn import _forks, _native, _tensors
from latenn._errors import InvalidArgumentError
from latenn._run_options import compute
from latenn._status import check

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from numpy.typing import NDArray

    from latenn._run_options import RunOptions


@dataclass(frozen=True)
class Port:
    """An input or output: its name, element type, and shape.

    A dimension that the model leaves open is its name (a str) or None. The whole shape is None where the model leaves
    even the rank open, or the runtime cannot tell (ONNX Runtime before 1.24, of scalars).
    """

    name: str
    type: str
    shape: tuple[int | str | None, ...] | None


class Handle:
    """A latenn_model that ends when it is closed and nobody uses it any more. `with handle as pointer` uses it."""

    def __init__(self, pointer: c_void_p, release: Callable[[c_void_p], object], *, forks_well: bool) -> None:
        self._pointer: c_void_p | None = pointer
        self._release = release
        self._users = 1  # this object, until it is closed
        self._closed = False
        self._lock = _forks.Lock()  # reentrant: a signal handler may close what its own thread is about to use
        self._forks = None if forks_well else _forks.count()

    def __enter__(self) -> c_void_p:
        with self._lock:
            self.check()
            self._users += 1
            return self._pointer  # type: ignore[return-value]  # of what is not closed

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def check(self) -> None:
        """For who holds what he needs of the model, as a context does. Raises when no run may begin any more."""
        if self._closed or self._pointer is None:
            raise InvalidArgumentError("the model is closed")
        if self._forks is not None and self._forks != _forks.count():
            raise _forks.refusal()

    def close(self) -> None:
        """Let nobody begin any more; the last who leaves releases. A second call does nothing."""
        with self._lock:
            was_closed, self._closed = self._closed, True
        if not was_closed:
            self._leave()

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            pointer = None
            if not self._users:
                pointer, self._pointer = self._pointer, None
        if pointer is not None:
            self._release(pointer)


class Runner:
    """A model's handle and ports, and one way of running it."""

    def __init__(self, pointer: c_void_p, *, forks_well: bool) -> None:
        self.library = _native.library()
        self.handle = Handle(pointer, self.library.latenn_model_release, forks_well=forks_well)
        weakref.finalize(self, self.handle.close)
        self.inputs = _ports(self.library.latenn_input, self.library.latenn_input_count(pointer), pointer)
        self.outputs = _ports(self.library.latenn_output, self.library.latenn_output_count(pointer), pointer)

    def run(self, inputs: Mapping[str, Any], options: RunOptions | None = None) -> dict[str, NDArray[Any]]:
        """See Model.run."""
        context = c_void_p()
        with self.handle as handle:
            check(self.library.latenn_context_create(handle, byref(context)))
            try:
                alive = self._bind(context, inputs)
                selected = compute(context, options)
                del alive  # what the inputs point to had to live until here
                return {
                    port.name: self._output(context, index)
                    for index, (port, _) in enumerate(self.outputs)
                    if not selected or port.name in selected
                }
            finally:
                self.library.latenn_context_release(context)

    def _bind(self, context: c_void_p, inputs: Mapping[str, Any]) -> list[object]:
        names = [port.name for port, _ in self.inputs]
        unknown = [name for name in inputs if name not in names]
        missing = [name for name in names if name not in inputs]
        if unknown or missing:
            wrong = [f"unknown input {name!r}" for name in unknown] + [f"input {name!r} is missing" for name in missing]
            raise InvalidArgumentError(f"{'; '.join(wrong)}. The model takes {', '.join(map(repr, names)) or 'none'}.")
        alive: list[object] = []
        for index, (port, number) in enumerate(self.inputs):
            tensor, owners = _tensors.to_tensor(port.name, number, inputs[port.name])
            alive += owners
            check(self.library.latenn_set_input(context, index, byref(tensor)))
        return alive

    def _output(self, context: c_void_p, index: int) -> NDArray[Any]:
        tensor = _native.Tensor()
        check(self.library.latenn_get_output(context, index, byref(tensor)))
        return _tensors.to_array(tensor)


def _ports(get: Any, count: int, handle: c_void_p) -> tuple[tuple[Port, int], ...]:
    return tuple((_port(get(handle, index).contents), int(get(handle, index).contents.type)) for index in range(count))


def _port(raw: _native.Port) -> Port:
    shape: list[int | str | None] = []
    for axis in range(raw.rank):
        size, name = raw.shape[axis], raw.dimensions[axis] if raw.dimensions else b""
        shape.append(size if size >= 0 else (name.decode() if name else None))
    name, kind = raw.name.decode(), _tensors.NAMES.get(raw.type, "unknown")
    return Port(name=name, type=kind, shape=tuple(shape) if raw.rank >= 0 else None)

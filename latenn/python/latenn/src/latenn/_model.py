"""Loading and running models: the Python face of latenn_model and latenn_context."""

from __future__ import annotations

import ctypes
import json
import os
import threading
import warnings
import weakref
from ctypes import byref, c_char_p, c_void_p
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from latenn import _backends, _native, _tensors
from latenn._errors import InvalidArgumentError, LatennWarning, RuntimeUnavailableError, make

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self

    from latenn._binding import Binding

_warned: set[str] = set()


@dataclass(frozen=True)
class Port:
    """An input or output: its name, element type, and shape.

    A dimension that the model leaves open is its name (a str) or None. The whole shape is None where the model leaves
    even the rank open, or the runtime cannot tell (ONNX Runtime before 1.24, of scalars).
    """

    name: str
    type: str
    shape: tuple[int | str | None, ...] | None


class _Handle:
    """A latenn_model that ends when it is closed and nobody uses it any more. `with handle as pointer` uses it."""

    def __init__(self, pointer: c_void_p, release: Callable[[c_void_p], object]) -> None:
        self._pointer: c_void_p | None = pointer
        self._release = release
        self._users = 1  # this object, until it is closed
        self._closed = False
        self._lock = threading.RLock()  # a signal handler may close what its own thread is about to use

    def __enter__(self) -> c_void_p:
        with self._lock:
            if self._closed or self._pointer is None:
                raise InvalidArgumentError("the model is closed")
            self._users += 1
            return self._pointer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

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


class Model:
    """A loaded model. Safe to use from several threads, and to close while they run; the GIL is released meanwhile.

    Made by `latenn.load`. A context manager: leaving it closes the model.
    """

    def __init__(self, handle: c_void_p) -> None:
        self._library = _native.library()
        self._handle = _Handle(handle, self._library.latenn_model_release)
        weakref.finalize(self, self._handle.close)
        self._inputs = _ports(self._library.latenn_input, self._library.latenn_input_count(handle), handle)
        self._outputs = _ports(self._library.latenn_output, self._library.latenn_output_count(handle), handle)
        self.backend: str = self._library.latenn_model_backend(handle).decode()

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The inputs in the model's order."""
        return tuple(port for port, _ in self._inputs)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The outputs in the model's order."""
        return tuple(port for port, _ in self._outputs)

    @property
    def report(self) -> dict[str, Any]:
        """What the loader did to find the runtime."""
        with self._handle as handle:
            return _json(self._library.latenn_model_report(handle))

    def run(self, inputs: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Run the model once.

        `inputs` maps every input's name to an array of its dtype and shape. The result maps every output's name, in
        the model's order, to a new array.

        Python's scalars and lists become the model's type where nothing is lost; nothing else is converted.

        Raises InvalidArgumentError for a missing or unknown name, a wrong dtype or shape, or a closed model;
        ComputeError when the runtime fails.
        """
        library = self._library
        context = c_void_p()
        with self._handle as handle:
            _check(library.latenn_context_create(handle, byref(context)))
            try:
                kept = self._bind(context, inputs)
                _check(library.latenn_compute(context))
                del kept  # what the inputs point to had to live until here
                return {port.name: self._output(context, index) for index, (port, _) in enumerate(self._outputs)}
            finally:
                library.latenn_context_release(context)

    def bind(self, *, copy: bool | None = None) -> Binding:
        """Inputs and outputs that stay bound from run to run: see Binding.

        `copy=False` makes an input that cannot be used where it lies an error, instead of copying it once.
        """
        from latenn._binding import Binding  # noqa: PLC0415  # few programs bind

        return Binding(self, copy)

    def close(self) -> None:
        """Close the model: runs that have begun come to their end, no other begins. A second call does nothing."""
        self._handle.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        def side(ports: tuple[Port, ...]) -> str:
            return ", ".join(f"{port.name}: {port.type}{list(port.shape or ('...',))}" for port in ports)

        return f"<latenn.Model {self.backend} ({side(self.inputs)}) -> ({side(self.outputs)})>"

    def _bind(self, context: c_void_p, inputs: Mapping[str, Any]) -> list[object]:
        names = [port.name for port, _ in self._inputs]
        unknown = [name for name in inputs if name not in names]
        missing = [name for name in names if name not in inputs]
        if unknown or missing:
            wrong = [f"unknown input {name!r}" for name in unknown] + [f"input {name!r} is missing" for name in missing]
            raise InvalidArgumentError(f"{'; '.join(wrong)}. The model takes {', '.join(map(repr, names)) or 'none'}.")
        kept: list[object] = []
        for index, (port, number) in enumerate(self._inputs):
            tensor, owners = _tensors.to_tensor(port.name, number, inputs[port.name])
            kept += owners
            _check(self._library.latenn_set_input(context, index, byref(tensor)))
        return kept

    def _output(self, context: c_void_p, index: int) -> NDArray[Any]:
        tensor = _native.Tensor()
        _check(self._library.latenn_get_output(context, index, byref(tensor)))
        return _tensors.to_array(tensor)


def load(  # noqa: PLR0913  # each is one choice that a user may make by name
    model: str | os.PathLike[str] | bytes | bytearray | memoryview,
    *,
    backend: str | None = None,
    device: str = "cpu",
    options: Mapping[str, object] | None = None,
    runtime_path: str | os.PathLike[str] | None = None,
    runtime_minimum: str | None = None,
) -> Model:
    """Load a model from a path or from bytes.

    `backend` is a backend's name or the path of a backend library; by default the model's encoding decides.
    `options` go to the backend. `runtime_path` is the runtime's file or folder: when it is given, nothing else is
    tried. `runtime_minimum` raises the backend's own minimum version. None leaves a choice open; "" is an error.

    Raises RuntimeUnavailableError, BackendMissingError, BackendUnusableError, ModelError, UnsupportedError,
    InvalidArgumentError or LatennOSError; each says what to do.
    """
    library = _native.library()
    handle = c_void_p()
    arguments = _options(backend, device, options or {}, runtime_path, runtime_minimum)
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
        status = library.latenn_load_bytes(data, len(data), byref(arguments.struct), byref(handle))
    else:
        path = _c_text("model", model, os.fsencode)
        status = library.latenn_load_path(path, byref(arguments.struct), byref(handle))
    _check(status, None if runtime_path is not None else backend or os.environ.get("LATENN_BACKEND", ""))
    loaded = Model(handle)
    _warn(loaded.report)
    return loaded


def runtime_report(
    *,
    backend: str | None = None,
    runtime_path: str | os.PathLike[str] | None = None,
    runtime_minimum: str | None = None,
) -> dict[str, Any]:
    """What the backend's loader finds, without a model: every place that was tried, and what came of it.

    Never raises because a runtime is missing: the report says so. Raises BackendMissingError without a backend.
    """
    library = _native.library()
    text = c_void_p()
    names = _backends.places(None, None).names
    if backend is None and len(names) == 1:
        backend = names[0]
    arguments = _options(backend, "cpu", {}, runtime_path, runtime_minimum)
    status = library.latenn_runtime_report(byref(arguments.struct), byref(text))
    try:
        if text.value is None:
            _check(status)
        elif status:
            library.latenn_status_release(status)
        return _json(ctypes.string_at(text.value)) if text.value else {}
    finally:
        library.latenn_text_release(text)


class _Arguments:
    """latenn_load_options together with the memory that it points to."""

    def __init__(self) -> None:
        self.struct = _native.LoadOptions(size=ctypes.sizeof(_native.LoadOptions))
        self._kept: list[object] = []

    def strings(self, field: str, texts: Sequence[str]) -> None:
        array = (c_char_p * (len(texts) + 1))(*[os.fsencode(text) for text in texts])
        self._kept.append(array)
        setattr(self.struct, field, array)

    def pairs(self, options: Mapping[str, object]) -> None:
        rows = [
            (_c_text("a key of options", key), _c_text(f"options[{key!r}]", _text(value), may_be_empty=True))
            for key, value in options.items()
        ]
        array = (_native.Option * (len(rows) + 1))(*(_native.Option(*row) for row in rows))
        self._kept += [array, rows]
        self.struct.options = array
        self.struct.option_count = len(rows)


def _options(
    backend: str | None,
    device: str,
    options: Mapping[str, object],
    runtime_path: str | os.PathLike[str] | None,
    runtime_minimum: str | None,
) -> _Arguments:
    arguments = _Arguments()
    struct = arguments.struct
    struct.backend = None if backend is None else _c_text("backend", backend, os.fsencode)
    struct.device = _c_text("device", device)
    struct.runtime_path = None if runtime_path is None else _c_text("runtime_path", runtime_path, os.fsencode)
    struct.runtime_minimum = None if runtime_minimum is None else _c_text("runtime_minimum", runtime_minimum)
    places = _backends.places(backend or os.environ.get("LATENN_BACKEND"), runtime_minimum)
    arguments.strings("backend_directories", places.libraries)
    arguments.strings("runtime_directories", places.runtimes)
    arguments.pairs(options)
    struct.backend_directory_count, struct.runtime_directory_count = len(places.libraries), len(places.runtimes)
    struct.runtime_advice = places.advice.encode() if places.advice else None
    return arguments


def _c_text(
    argument: str, value: Any, encode: Callable[[Any], bytes] = str.encode, *, may_be_empty: bool = False
) -> bytes:
    """A text or path as C takes it; `argument` is its name, for messages.

    Raises InvalidArgumentError for what C would read as another text: a NUL ends it, and an empty one is "not given".
    """
    try:
        text = encode(value)
    except (TypeError, UnicodeEncodeError) as error:
        raise InvalidArgumentError(f"{argument} is {value!r}, which is no text: {error}. Give a str.") from None
    if b"\0" in text:
        raise InvalidArgumentError(f"{argument} is {value!r}: C would end it at the NUL. Give it without one.")
    if not text and not may_be_empty:
        raise InvalidArgumentError(f"{argument} is empty. Give a value, or leave the argument out.")
    return text


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _ports(get: Any, count: int, handle: c_void_p) -> tuple[tuple[Port, int], ...]:
    return tuple((_port(get(handle, index).contents), int(get(handle, index).contents.type)) for index in range(count))


def _port(raw: _native.Port) -> Port:
    shape: list[int | str | None] = []
    for axis in range(raw.rank):
        size, name = raw.shape[axis], raw.dimensions[axis] if raw.dimensions else b""
        shape.append(size if size >= 0 else (name.decode() if name else None))
    name, kind = raw.name.decode(), _tensors.NAMES.get(raw.type, "unknown")
    return Port(name=name, type=kind, shape=tuple(shape) if raw.rank >= 0 else None)


def _check(status: int | None, searched: str | None = None) -> None:
    """Raise what a status says.

    `searched` is the backend ("" for any) whose runtime was looked for in this environment: what metadata knows of it
    goes before the sentence of a missing runtime. None where an explicit path was the only place that was tried.
    """
    if not status:
        return
    library = _native.library()
    try:
        code = library.latenn_status_code(status)
        message = library.latenn_status_message(status).decode("utf-8", "replace")
        report = library.latenn_status_report(status).decode("utf-8", "replace")
    finally:
        library.latenn_status_release(status)
    if searched is not None and code == RuntimeUnavailableError.code:
        message = f"{_backends.note(searched or None)} {message}".lstrip()
    raise make(code, message, report)


def _json(text: bytes) -> dict[str, Any]:
    report = json.loads(text.decode("utf-8", "replace") or "{}")
    return report if isinstance(report, dict) else {}


def _warn(report: dict[str, Any]) -> None:
    """Pass the loader's warning on, once in a process: it is about the process, not about a model."""
    warning = str(report.get("warning") or "")
    if warning and warning not in _warned:
        _warned.add(warning)
        warnings.warn(warning, LatennWarning, stacklevel=3)

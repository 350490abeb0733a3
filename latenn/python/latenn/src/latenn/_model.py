"""Loading and running models: the Python face of latenn_model and latenn_context."""

from __future__ import annotations

import ctypes
import os
import warnings
from ctypes import byref, c_char_p, c_void_p
from typing import TYPE_CHECKING, Any

from latenn import _accelerator, _backends, _native
from latenn._errors import InvalidArgumentError, LatennWarning
from latenn._runner import Port, Runner
from latenn._status import check

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self

    from latenn._async import RunFuture
    from latenn._binding import Binding

_warned: set[str] = set()


class Model:
    """A loaded model. Safe to use from several threads, and to close while they run; the GIL is released meanwhile.

    Made by `latenn.load`. A context manager: leaving it closes the model.
    """

    def __init__(self, pointer: c_void_p, *, forks_well: bool = False) -> None:
        self._library = _native.library()
        self.backend: str = self._library.latenn_model_backend(pointer).decode()
        self._runner = Runner(pointer, forks_well=forks_well)
        self._handle = self._runner.handle
        self._builtin = _accelerator.builtin(self._runner)
        if self._builtin and type(self).run is Model.run:
            self.__dict__["run"] = self._builtin  # a call less on the way; what it cannot take goes to the runner

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The inputs in the model's order."""
        return tuple(port for port, _ in self._runner.inputs)

    @property
    def outputs(self) -> tuple[Port, ...]:
        """The outputs in the model's order."""
        return tuple(port for port, _ in self._runner.outputs)

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
        ComputeError when the runtime fails; UnsupportedError in a forked process that did not load the model itself.
        """
        return self._runner.run(inputs)

    def run_async(self, inputs: Mapping[str, Any]) -> RunFuture:
        """Run the model once, in the background: `await model.run_async(inputs)`, or `.result()` without a loop.

        The arrays must not change until then. As many runs go on at once as there are processors; others wait.
        Errors are those of `run`, raised where the result is waited for.
        """
        from latenn import _async  # noqa: PLC0415  # asyncio is slow to import, and few need it

        return _async.submit(self.run, inputs)

    def bind(self, *, copy: bool | None = None) -> Binding:
        """Inputs and outputs that stay bound from run to run: see Binding.

        `copy=False` makes an input that cannot be used where it lies an error, instead of copying it once.
        """
        from latenn._binding import Binding  # noqa: PLC0415  # few programs bind

        return Binding(self, copy)

    def close(self) -> None:
        """Close the model: runs that have begun come to their end, no other begins. A second call does nothing."""
        self._handle.close()
        if self._builtin:
            _accelerator.close(self._builtin)

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


def load(  # noqa: PLR0913  # each is one choice that a user may make by name
    model: str | os.PathLike[str] | bytes | bytearray | memoryview,
    backend: str | None = None,
    device: str = "cpu",
    options: Mapping[str, object] | None = None,
    *,
    runtime_path: str | os.PathLike[str] | None = None,
    runtime_minimum: str | None = None,
    logger: logging.Logger | None = None,
) -> Model:
    """Load a model from a path or from bytes.

    `backend` is a backend's name or the path of a backend library; by default the model's encoding decides.
    `options` go to the backend. `runtime_path` is the runtime's file or folder: when it is given, nothing else is
    tried. `runtime_minimum` raises the backend's own minimum version. None leaves a choice open; "" is an error.
    `logger` gets what ONNX Runtime logs of this model, warnings and errors unless the option log_severity_level (0 to
    4) says otherwise; without it a model logs nothing, and with that option it prints to stderr. The other backends
    log nothing.

    Raises RuntimeUnavailableError, BackendMissingError, BackendUnusableError, ModelError, UnsupportedError,
    InvalidArgumentError or LatennOSError; each says what to do.
    """
    library = _native.library()
    handle = c_void_p()
    arguments = _options(backend, device, options or {}, runtime_path, runtime_minimum)
    if logger is not None:
        arguments.log(logger)
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
        status = library.latenn_load_bytes(data, len(data), byref(arguments.struct), byref(handle))
    else:
        path = _c_text("model", model, os.fsencode)
        status = library.latenn_load_path(path, byref(arguments.struct), byref(handle))
    check(status, None if runtime_path is not None else backend or _native.variable("LATENN_BACKEND") or "")
    loaded = Model(handle, forks_well=(options or {}).get("intra_op_num_threads") in (1, "1"))
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
            check(status)
        elif status:
            library.latenn_status_release(status)
        report = _json(ctypes.string_at(text.value)) if text.value else {}
        return {**report, "accelerator": _accelerator.told()}
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

    def log(self, logger: logging.Logger) -> None:
        from latenn import _log  # noqa: PLC0415  # few programs want the log

        self.struct.log_user = _log.number(logger)
        self.struct.log = ctypes.cast(_log.write, c_void_p)

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
    struct.device = _c_text("device", device)
    struct.runtime_path = None if runtime_path is None else _c_text("runtime_path", runtime_path, os.fsencode)
    struct.runtime_minimum = None if runtime_minimum is None else _c_text("runtime_minimum", runtime_minimum)
    places = _backends.places(backend or _native.variable("LATENN_BACKEND"), runtime_minimum)
    struct.backend = _backend(backend, places.names)
    arguments.strings("backend_directories", places.libraries)
    arguments.strings("runtime_directories", places.runtimes)
    arguments.pairs(options)
    struct.backend_directory_count, struct.runtime_directory_count = len(places.libraries), len(places.runtimes)
    struct.runtime_advice = places.advice.encode() if places.advice else None
    return arguments


def _backend(wanted: str | None, installed: tuple[str, ...]) -> bytes | None:
    """The backend that is wanted; where none is, the choice among those that are installed is the core's."""
    if wanted is None:
        return ",".join((*installed, "")).encode() or None
    return _c_text("backend", wanted, os.fsencode)


def _c_text(
    argument: str, value: Any, encode: Callable[[Any], bytes] = str.encode, *, may_be_empty: bool = False
) -> bytes:
    """A text or path as C takes it; `argument` is its name, for messages.

    Raises InvalidArgumentError for what C would read as another text: a NUL ends it, and an empty one is "not given".
    """
    try:
        text = encode(value)
    except (TypeError, UnicodeEncodeError) as error:
        raise InvalidArgumentError(f"{argument} is {value!r}, which is not text: {error}. Give a str.") from None
    if b"\0" in text:
        raise InvalidArgumentError(f"{argument} is {value!r}: C would end it at the NUL. Give it without one.")
    if not text and not may_be_empty:
        raise InvalidArgumentError(f"{argument} is empty. Give a value, or leave the argument out.")
    return text


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _json(text: bytes) -> dict[str, Any]:
    import json  # noqa: PLC0415  # only reports need it

    report = json.loads(text.decode("utf-8", "replace") or "{}")
    return report if isinstance(report, dict) else {}


def _warn(report: dict[str, Any]) -> None:
    """Pass the loader's warning on, once in a process: it is about the process, not about a model."""
    warning = str(report.get("warning") or "")
    if warning and warning not in _warned:
        _warned.add(warning)
        warnings.warn(warning, LatennWarning, stacklevel=3)

"""Loading and running models: the Python face of latenn_model and latenn_context."""

from __future__ import annotations

import ctypes
import os
import warnings
from ctypes import byref, c_void_p
from typing import TYPE_CHECKING, Any

from latenn import _accelerator, _backends, _native
from latenn._arguments import c_text, load_options
from latenn._errors import LatennWarning
from latenn._runner import Port, Runner
from latenn._status import check

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType

    from numpy.typing import NDArray
    from typing_extensions import Self

    from latenn._async import RunFuture
    from latenn._binding import Binding
    from latenn._run_options import RunOptions

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

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the model.

        A dict of producer_name, graph_name, domain, description, graph_description, version, and custom, a dict.
        Raises UnsupportedError where the backend does not give it.
        """
        return _json(self._text(self._library.latenn_model_metadata))

    def end_profile(self) -> str:
        """End the profile that the option `profile` of `load` began; gives the path of the file."""
        return os.fsdecode(self._text(self._library.latenn_model_end_profile))

    def _text(self, get: Callable[..., int | None]) -> bytes:
        text = c_void_p()
        with self._handle as handle:
            check(get(handle, byref(text)))
        try:
            return ctypes.string_at(text.value or 0)
        finally:
            self._library.latenn_text_release(text)

    def run_options(self, *, outputs: Iterable[str] = (), options: Mapping[str, object] | None = None) -> RunOptions:
        """What runs get besides their inputs; the same may serve many runs. See RunOptions.

        `outputs` are the outputs that are wanted, by default all. `options` go to the backend: of ONNX Runtime tag,
        log_severity_level, lora_adapter (a path; lora_adapter.NAME for several) and run config entries.
        """
        from latenn._run_options import RunOptions  # noqa: PLC0415  # few programs need them

        return RunOptions(self._handle, outputs, options or {})

    def run(self, inputs: Mapping[str, Any], options: RunOptions | None = None) -> dict[str, NDArray[Any]]:
        """Run the model once.

        `inputs` maps every input's name to an array of its dtype and shape. The result maps every output's name, in
        the model's order, to a new array. `options` are made by `run_options`.

        Python's scalars and lists become the model's type where nothing is lost; nothing else is converted.

        Raises InvalidArgumentError for a missing or unknown name, a wrong dtype or shape, or a closed model;
        ComputeError when the runtime fails; CancelledError after `options.cancel()`; UnsupportedError in a forked
        process that did not load the model itself.
        """
        return self._runner.run(inputs, options)

    def run_async(self, inputs: Mapping[str, Any], options: RunOptions | None = None) -> RunFuture:
        """Run the model once, in the background: `await model.run_async(inputs)`, or `.result()` without a loop.

        The arrays must not change until then. As many runs go on at once as there are processors; others wait.
        Errors are those of `run`, raised where the result is waited for.
        """
        from latenn import _async  # noqa: PLC0415  # asyncio is slow to import, and few need it

        return _async.submit(self.run, inputs, *(() if options is None else (options,)))

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
    files: Mapping[str, bytes] | None = None,
) -> Model:
    """Load a model from a path or from bytes.

    `backend` is a backend's name or the path of a backend library; by default the model's encoding decides.
    `options` go to the backend. `runtime_path` is the runtime's file or folder: when it is given, nothing else is
    tried. `runtime_minimum` raises the backend's own minimum version. None leaves a choice open; "" is an error.
    `logger` gets what ONNX Runtime logs of this model, warnings and errors unless the option log_severity_level (0 to
    4) says otherwise; without it a model logs nothing, and with that option it prints to stderr. The other backends
    log nothing. `files` holds what the model keeps outside of itself, by the names that it has in the model: the
    external data of an ONNX model from memory.

    Raises RuntimeUnavailableError, BackendMissingError, BackendUnusableError, ModelError, UnsupportedError,
    InvalidArgumentError or LatennOSError; each says what to do.
    """
    library = _native.library()
    handle = c_void_p()
    arguments = load_options(backend, device, options or {}, runtime_path, runtime_minimum)
    if logger is not None:
        arguments.log(logger)
    if files:
        arguments.files(files)
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
        status = library.latenn_load_bytes(data, len(data), byref(arguments.struct), byref(handle))
    else:
        path = c_text("model", model, os.fsencode)
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
    arguments = load_options(backend, "cpu", {}, runtime_path, runtime_minimum)
    status = library.latenn_runtime_report(byref(arguments.struct), byref(text))
    try:
        if text.value is None:
            check(status)
        elif status:
            library.latenn_status_release(status)
        report = _json(ctypes.string_at(text.value)) if text.value else {}
        return {**report, "accelerator": _accelerator.describe_use()}
    finally:
        library.latenn_text_release(text)


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

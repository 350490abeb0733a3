"""What the user asks for at loading, as C takes it."""

from __future__ import annotations

import ctypes
import os
from ctypes import c_char_p, c_void_p
from typing import TYPE_CHECKING, Any

from latenn import _backends, _native
from latenn._errors import InvalidArgumentError

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterable, Mapping, Sequence


class Arguments:
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
        array, owners = rows("options", options.items())
        self._kept += owners
        self.struct.options = array
        self.struct.option_count = len(options)

    def files(self, files: Mapping[str, bytes]) -> None:
        named = [(c_text("a name of files", name), bytes(data)) for name, data in files.items()]
        array = (_native.File * (len(named) + 1))(
            *(_native.File(name, ctypes.cast(c_char_p(data), c_void_p), len(data)) for name, data in named)
        )
        self._kept += [array, named]
        self.struct.files = array
        self.struct.file_count = len(named)


def rows(argument: str, pairs: Iterable[tuple[str, object]]) -> tuple[Any, list[object]]:
    """An array of latenn_option, and what must live as long; `argument` is their name, for messages."""
    encoded = [
        (c_text(f"a key of {argument}", key), c_text(f"{argument}[{key!r}]", _text(value), may_be_empty=True))
        for key, value in pairs
    ]
    array = (_native.Option * (len(encoded) + 1))(*(_native.Option(*pair) for pair in encoded))
    return array, [array, encoded]


def load_options(
    backend: str | None,
    device: str,
    options: Mapping[str, object],
    runtime_path: str | os.PathLike[str] | None,
    runtime_minimum: str | None,
) -> Arguments:
    """What latenn_load_path() and the like get."""
    arguments = Arguments()
    struct = arguments.struct
    struct.device = c_text("device", device)
    struct.runtime_path = None if runtime_path is None else c_text("runtime_path", runtime_path, os.fsencode)
    struct.runtime_minimum = None if runtime_minimum is None else c_text("runtime_minimum", runtime_minimum)
    locations = _backends.places(backend or _native.variable("LATENN_BACKEND"), runtime_minimum)
    struct.backend = _backend(backend, locations.names)
    arguments.strings("backend_directories", locations.libraries)
    arguments.strings("runtime_directories", locations.runtimes)
    arguments.pairs(options)
    struct.backend_directory_count, struct.runtime_directory_count = len(locations.libraries), len(locations.runtimes)
    struct.runtime_advice = locations.advice.encode("utf-8", "surrogateescape") if locations.advice else None
    return arguments


def _backend(backend: str | None, installed: tuple[str, ...]) -> bytes | None:
    """The backend that is wanted; where none is, the choice among those that are installed is the core's."""
    if backend is None:
        return ",".join((*installed, "")).encode() or None
    return c_text("backend", backend, os.fsencode)


def c_text(
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

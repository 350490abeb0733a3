"""Passes to the operator, through session entries, what is installed and what is wanted. Imports no runtime."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from latenn import InvalidArgumentError, _backends

if TYPE_CHECKING:
    from collections.abc import Mapping

OPERATOR = "Model"
_KEYS = ("backend", "device", "options", "runtime_path", "runtime_minimum", "directory", "allow_any_path")
"""What may be set for all nodes, or for one by its name."""


class _SessionOptions(Protocol):
    """What is used of onnxruntime.SessionOptions."""

    def add_session_config_entry(self, key: str, value: str, /) -> None: ...

    def register_custom_ops_library(self, path: str, /) -> None: ...


def library_path() -> str:
    """The operator's library, for `SessionOptions.register_custom_ops_library`; `register` calls that itself."""
    folders = [Path(folder) for folder in import_module("latenn_customop").__path__]
    paths = [path for folder in folders for path in folder.glob("*latenn_customop.*") if path.suffix in _SUFFIXES]
    if not paths:
        raise InvalidArgumentError(
            f"{folders[0]} holds no library of the operator: this installation is not whole. "
            "pip install --force-reinstall latenn-customop"
        )
    return str(paths[0])


_SUFFIXES = (".so", ".dylib", ".dll")


def register(  # noqa: PLR0913  # each is one choice that a user may make by name
    session_options: _SessionOptions,
    *,
    backend: str | None = None,
    device: str | None = None,
    options: Mapping[str, object] | None = None,
    runtime_path: str | os.PathLike[str] | None = None,
    runtime_minimum: str | None = None,
    directory: str | os.PathLike[str] | None = None,
    allow_any_path: bool | None = None,
    nodes: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Register the operator with an `onnxruntime.SessionOptions`, once, before sessions are made with it.

    The choices are those of `latenn.load` and hold for every node; `nodes` maps a node's name to those that hold for
    it alone, by the same words.

    A graph may come from anyone: it can name a backend, but not a library, and files below `directory`, but none
    elsewhere. `directory` is the folder where the path of a wrapped model begins; a graph that holds a path needs it.
    `allow_any_path=True` lets graphs that you trust name any file.

    Raises InvalidArgumentError for a word that is not known or a value that a session cannot hold.
    """
    settings = {
        "backend": backend,
        "device": device,
        "options": options,
        "runtime_path": runtime_path,
        "runtime_minimum": runtime_minimum,
        "directory": directory,
        "allow_any_path": allow_any_path,
    }
    entries = {
        f"custom_op.{OPERATOR}.{key}": value
        for key, value in {**_find_installed(runtime_minimum), **_texts("", settings)}.items()
    }
    for node, choices in (nodes or {}).items():
        if not node or node == OPERATOR:
            raise InvalidArgumentError(f"nodes names {node!r}: give the name of a node, other than {OPERATOR!r}.")
        entries |= {f"custom_op.{node}.{key}": value for key, value in _texts(node, choices).items()}
    for key, value in entries.items():
        _add(session_options, key, value)
    session_options.register_custom_ops_library(library_path())


def _find_installed(minimum: str | None) -> dict[str, str]:
    """Where the installed backends and their runtimes lie."""
    locations = _backends.places(None, minimum)
    entries = {
        "backends": ",".join((*locations.names, "")),
        "backend_directories": "\n".join(locations.libraries),
        "runtime_directories": "\n".join(locations.runtimes),
        "runtime_advice": locations.advice,
    }
    return {key: value for key, value in entries.items() if value.strip(",")}


def _texts(node: str, choices: Mapping[str, Any]) -> dict[str, str]:
    """The choices as entries, without those that are None."""
    where = f"nodes[{node!r}]" if node else "register"
    if unknown := sorted(set(choices) - set(_KEYS)):
        raise InvalidArgumentError(f"{where} does not know {unknown[0]!r}. Known: {', '.join(_KEYS)}.")
    texts = {}
    for key, value in choices.items():
        if value is None:
            continue
        if key == "allow_any_path":
            texts[key] = str(int(bool(value)))
            continue
        texts[key] = _lines(where, value) if key == "options" else os.fspath(value)
        if not isinstance(texts[key], str) or "\0" in texts[key]:
            raise InvalidArgumentError(f"{where}: {key} is {value!r}; it takes a text.")
    return texts


def _lines(where: str, options: Mapping[str, object]) -> str:
    texts = {key: str(int(value)) if isinstance(value, bool) else str(value) for key, value in options.items()}
    for key, value in texts.items():
        if not key or "=" in key or "\n" in key + value:
            raise InvalidArgumentError(f"{where}: options has {key!r}: {value!r}, which no line KEY=VALUE can hold.")
    return "\n".join(f"{key}={value}" for key, value in texts.items())


def _add(session_options: _SessionOptions, key: str, value: str) -> None:
    try:
        session_options.add_session_config_entry(key, value)
    except (RuntimeError, ValueError) as error:  # its own words for a key or a value that is too long
        raise InvalidArgumentError(
            f"onnxruntime refuses the entry {key} of {len(value)} characters: {error}. "
            "A newer onnxruntime takes longer ones."
        ) from None

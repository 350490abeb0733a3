"""Finds installed backend packages, from metadata alone, and asks them where their runtime lies."""

from __future__ import annotations

import importlib
from importlib import metadata
from pathlib import Path
from typing import Protocol, cast


class Backend(Protocol):
    """What a backend package offers; entry point group `latenn.backends`."""

    def library_directory(self) -> str:
        """The folder of the backend library."""

    def runtime_directories(self) -> list[str]:
        """Folders of installed runtime distributions that may hold the runtime, best first."""

    def runtime_advice(self, minimum: str | None) -> str:
        """The command that brings a usable runtime; `minimum` is a floor above the package's own, or None."""

    def runtime_note(self) -> str:
        """What installed metadata says of why there may be no usable runtime, one sentence, or ""."""


def installed() -> dict[str, Backend]:
    """The backend packages of this environment by name, sorted; a package that cannot be imported is left out."""
    found = {}
    for point in sorted(metadata.entry_points(group="latenn.backends"), key=lambda point: point.name):
        try:
            found[point.name] = cast("Backend", importlib.import_module(point.module))
        except ImportError:
            continue
    return found


def chosen(name: str | None) -> dict[str, Backend]:
    """The packages that matter for a choice of backend: the one named, or all."""
    everything = installed()
    if name is None or Path(name).name != name:
        return everything
    return {name: everything[name]} if name in everything else everything

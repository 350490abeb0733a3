"""Finds installed backend packages, and asks them where their runtime lies."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol, cast

_OWN = {"litert": "latenn_litert", "onnxruntime": "latenn_onnxruntime", "openvino": "latenn_openvino"}
"""latenn's own backends, which also count where an installation has no metadata, as on serverless platforms."""


class Backend(Protocol):
    """What a backend package offers; entry point group `latenn.backends`."""

    def library_directory(self) -> str:
        """The folder of the backend library."""

    def runtime_directories(self) -> list[str]:
        """Folders of installed runtime distributions that may hold the runtime, best first."""

    def runtime_advice(self, minimum: str | None) -> str:
        """The command that provides a usable runtime; `minimum` is a floor above the package's own, or None."""

    def runtime_note(self) -> str:
        """Why there may be no usable runtime, by the installed metadata, in one sentence; or ""."""


@dataclass(frozen=True)
class Places:
    """Where the backends of a choice and their runtimes may lie, and the command that provides a runtime."""

    names: tuple[str, ...]
    libraries: tuple[str, ...]
    runtimes: tuple[str, ...]
    advice: str
    """A line for each backend: its name, and the command."""


def places(backend: str | None, minimum: str | None) -> Places:
    """What the C library gets for a choice of backend: a name, a path, or None for any.

    Reading metadata takes milliseconds and loading a small model takes less, so the answer is kept for as long as the
    folders of sys.path do not change.
    """
    return _places(_state(), backend, minimum)


def note(backend: str | None) -> str:
    """Why a runtime may be missing, by its metadata, for an error; "" when it does not show."""
    return " ".join(text for package in _select_packages(backend).values() if (text := package.runtime_note()))


@lru_cache(maxsize=16)
def _places(state: tuple[tuple[str, int], ...], backend: str | None, minimum: str | None) -> Places:
    del state  # only decides whether the answer is still good
    packages = _select_packages(backend)
    runtimes = [folder for package in packages.values() for folder in package.runtime_directories()]
    return Places(
        names=tuple(packages),
        libraries=tuple(package.library_directory() for package in packages.values()),
        runtimes=tuple(dict.fromkeys(runtimes)),
        advice="".join(f"{name}: {package.runtime_advice(minimum)}\n" for name, package in packages.items()),
    )


def _select_packages(backend: str | None) -> dict[str, Backend]:
    """The packages that matter: the one named, or all."""
    from latenn import _installed  # noqa: PLC0415  # importlib.metadata takes longer to import than all of latenn

    modules = {name: module for name, module in _OWN.items() if _installed.find_package(module)}
    modules |= {point.name: point.module for point in _installed.list_entry_points("latenn.backends")}
    packages = {}
    for name, module in sorted(modules.items()):
        try:
            packages[name] = cast("Backend", importlib.import_module(module))
        except ImportError:  # a broken package must not hide the others
            continue
    if backend is not None and Path(backend).name == backend and backend in packages:
        return {backend: packages[backend]}
    return packages


def _state() -> tuple[tuple[str, int], ...]:
    """Changes whenever a distribution is installed or removed."""
    return tuple((entry, _read_mtime(entry)) for entry in sys.path)


def _read_mtime(entry: str) -> int:
    try:
        return os.stat(entry or ".").st_mtime_ns  # noqa: PTH116  # on the way of every load, and half the time
    except OSError:
        return 0


def _show_freezers() -> None:
    """Never called: programs such as cx_Freeze and Nuitka follow imports, and so take the backends along."""
    import latenn_litert  # noqa: F401, PLC0415
    import latenn_onnxruntime  # noqa: F401, PLC0415
    import latenn_openvino  # noqa: F401, PLC0415

"""Finds packages as Python's import does, and their metadata, but not in the working folder.

Python puts "" at the beginning of sys.path for `python -c` and at its prompt: files in the working folder, which may be
anyone's, would decide which code is imported and which library is loaded. Every other folder is one that Python itself
imports from. So is a relative one that this package came from: vendor/, for instance.
"""

from __future__ import annotations

import os
import sys
from importlib import metadata

_OWN = os.path.normpath(os.path.dirname(os.path.dirname(__file__)))  # noqa: PTH120
try:
    _START = os.getcwd()  # noqa: PTH109
except OSError:  # it was removed
    _START = ""


def find_package(name: str) -> list[str]:
    """The folders of the package that Python would import, without importing it; [] when there is none."""
    path = _list_folders()
    specs = (finder.find_spec(name, path) for finder in sys.meta_path if hasattr(finder, "find_spec"))
    spec = next(filter(None, specs), None)
    if spec is None or spec.submodule_search_locations is None:
        return []
    folders = spec.submodule_search_locations or [os.path.dirname(spec.origin or "")]  # noqa: PTH120  # [] in Nuitka
    return [folder for folder in folders if os.path.isabs(folder)]  # noqa: PTH117


def find_distribution(name: str) -> metadata.Distribution | None:
    """The installed distribution of that name, the first on sys.path; None when there is none."""
    return next(iter(metadata.distributions(name=name, path=_list_folders())), None)


def list_entry_points(group: str) -> list[metadata.EntryPoint]:
    """The entry points of a group, by their names."""
    distributions = metadata.distributions(path=_list_folders())
    points = [point for distribution in distributions for point in distribution.entry_points if point.group == group]
    return sorted(points, key=lambda point: point.name)


def _list_folders() -> list[str]:
    return list(filter(None, map(_find_folder, sys.path)))


def _find_folder(entry: str) -> str:
    """An entry of sys.path as an absolute path, if it is one, or if this package came from there; "" for others."""
    if os.path.isabs(entry):  # noqa: PTH117  # on the way of every load
        return entry
    place = os.path.normpath(os.path.join(_START, entry))  # noqa: PTH118
    return place if _START and place == _OWN else ""

"""Finds packages as Python's import does, and their metadata, but not in the working folder.

Python puts "" at the beginning of sys.path for `python -c` and at its prompt: files in the working folder, which may be
anyone's, would decide which code is imported and which library is loaded. Every other folder is one that Python itself
imports from.
"""

from __future__ import annotations

import os
import sys
from importlib import metadata


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
    return [folder for folder in sys.path if os.path.isabs(folder)]  # noqa: PTH117  # on the way of every load

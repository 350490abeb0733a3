"""Finds the programs that latebind runs."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path


def which(name: str, *, path: str | None = None) -> Path | None:
    """The program of that name or path, or None, as which_all() finds it."""
    return next(which_all(name, path=path), None)


def list_packaged(package: str, program: str) -> Iterator[Path]:
    """Where this Python's package of that name would have a program, such as `data/bin/cmake`."""
    spec = importlib.util.find_spec(package)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return (Path(folder) / (f"{program}.exe" if sys.platform == "win32" else program) for folder in folders)


def which_all(name: str, *, path: str | None = None) -> Iterator[Path]:
    """Every program of that name on PATH, in its order. Only absolute folders of PATH count.

    An empty or relative entry means the working folder, where Windows looks first anyway: a project would choose which
    programs run.
    """
    if os.path.dirname(name):  # noqa: PTH120  # the user named a file: "./cc" has a folder, and Path would drop it
        program = shutil.which(name)
        yield from (Path(program),) if program else ()
        return
    listed = os.environ.get("PATH", os.defpath) if path is None else path
    folders = (folder for folder in map(Path, listed.split(os.pathsep)) if folder.is_absolute())
    files = (folder / file for folder in folders for file in _list_file_names(name))
    # Not Path.is_file(), which raises for a folder that this user may not enter.
    yield from (file for file in files if os.path.isfile(file) and os.access(file, os.X_OK))  # noqa: PTH113


def _list_file_names(name: str) -> list[str]:
    """The files that a program's name stands for: on Windows, with each ending that makes one a program."""
    endings = os.environ.get("PATHEXT", ".COM;.EXE;.BAT;.CMD").split(os.pathsep) if sys.platform == "win32" else []
    has_ending = any(name.lower().endswith(ending.lower()) for ending in endings if ending)
    return [name] if has_ending or not endings else [name + ending for ending in endings]

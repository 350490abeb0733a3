"""Puts a stage in the place of an earlier one, and finds the libraries in it that programs are linked with."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from latebind.backend.stage import Stage
from latebind.backend.targets import target
from loadcheck.facts import import_library


@contextmanager
def new_stage(root: Path) -> Iterator[Path]:
    """A folder to fill, which takes the place of an earlier stage when the block succeeds, else is removed."""
    aside = root.with_name(f".{root.name}.{os.getpid()}.part")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        yield aside
        swap_in(aside, root)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def swap_in(aside: Path, root: Path) -> None:
    """Put a finished folder in the place of an earlier one; the earlier one stays until that moment."""
    old = root.with_name(f".{root.name}.{os.getpid()}.old")
    shutil.rmtree(old, ignore_errors=True)
    if root.exists():
        root.rename(old)
    aside.rename(root)
    shutil.rmtree(old, ignore_errors=True)


def static_libraries(stage: Stage, component: str) -> tuple[Path, ...]:
    """The static libraries of a component: on Windows each .lib but import libraries, else each .a."""
    suffix = ".lib" if target(stage.rid).dlltool_machine else ".a"
    imports = import_libraries(stage, component)
    return tuple(path for path in stage.paths(component) if path.suffix == suffix and path not in imports)


def import_libraries(stage: Stage, component: str) -> tuple[Path, ...]:
    """What a program is linked with where libraries have import libraries: on Windows, each .lib of a DLL."""
    if not target(stage.rid).dlltool_machine:
        return ()
    paths = stage.paths(component)
    shared = {path.stem for path in paths if path.suffix == ".dll"}
    return tuple(path for path in paths if path.suffix == ".lib" and (path.stem in shared or imported_dlls(path)))


def imported_dlls(path: Path) -> frozenset[str]:
    """The DLLs that an import library names, in lower case; none for a static library."""
    read = import_library(path.read_bytes())
    return read[1] if read else frozenset()

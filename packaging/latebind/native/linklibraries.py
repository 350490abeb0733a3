"""Finds the libraries of a stage that programs are linked with."""

from __future__ import annotations

from pathlib import Path

from latebind.backend.stage import Stage
from latebind.backend.targets import target
from loadcheck.facts import import_library


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

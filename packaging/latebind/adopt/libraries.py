"""Which libraries of a CMake project need a runtime, by what target_link_libraries() says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from latebind.adopt.cmake import Command

_ADDS = ("add_library", "pybind11_add_module", "nanobind_add_module", "python_add_library")


def list_libraries(files: Mapping[Path, str], linked: set[str]) -> dict[str, Path]:
    """The libraries that a package can hold, with the folder that declares each: shared libraries and modules.

    `linked` are the targets that link a runtime. A library that links one of them needs the runtime, too: often the
    runtime is linked by a static core. Modules of Python count where they link a runtime themselves.
    """
    parsed = [(path, command) for path, text in files.items() for command in commands(text) if command.words]
    declared = {command.words[0]: (path.parent, command) for path, command in parsed if command.name in _ADDS}
    reached = set(linked)
    links = [command.words for _, command in parsed if command.name == "target_link_libraries"]
    libraries = {name for name, (_, command) in declared.items() if command.name == "add_library"}
    while more := {target for target, *items in links if target in libraries and reached & set(items)} - reached:
        reached |= more
    return {
        name: folder for name, (folder, command) in declared.items() if name in reached and not _is_archive(command)
    }


def _is_archive(command: Command) -> bool:
    return bool({"STATIC", "OBJECT", "INTERFACE", "IMPORTED", "ALIAS"} & set(command.words))


def list_undecided(files: Mapping[Path, str], libraries: Mapping[str, Path]) -> list[str]:
    """The libraries that are shared only where BUILD_SHARED_LIBS is set: add_library() without a type."""
    parsed = [command for text in files.values() for command in commands(text) if command.name == "add_library"]
    typed = {command.words[0] for command in parsed if {"SHARED", "MODULE"} & set(command.words)}
    untyped = {command.words[0] for command in parsed if command.words} - typed
    return sorted(set(libraries) & untyped)

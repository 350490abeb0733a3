"""Which libraries of a CMake project need a runtime, by what target_link_libraries() says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # tools read the types of the dataclass
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from latebind.adopt.cmake import Command

_ADDS = ("add_library", "pybind11_add_module", "nanobind_add_module", "python_add_library")
_ARCHIVES = frozenset({"STATIC", "OBJECT", "INTERFACE", "IMPORTED", "ALIAS"})
_SHARED = frozenset({"SHARED", "MODULE"})

Scoped = tuple[str, Path | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A library as its CMake file declares it."""

    name: str
    """As it is written: `voice`, or `${PROJECT_NAME}`, which is another target in each file."""
    file: Path
    is_undecided: bool
    """Whether BUILD_SHARED_LIBS decides that it is shared: add_library() without a type."""


def list_libraries(files: Mapping[Path, str], linked: Iterable[tuple[str, Path]]) -> list[Library]:
    """The libraries that a package can hold: shared libraries and modules that need a runtime.

    `linked` are the targets that link a runtime, with the file that says so. A library that links one of them needs the
    runtime, too: often the runtime is linked by a static core. Modules of Python count where they link it themselves.
    """
    parsed = [(path, command) for path, text in files.items() for command in commands(text) if command.words]
    declared: dict[Scoped, list[tuple[Path, Command]]] = {}
    for path, command in parsed:
        if command.name in _ADDS:
            declared.setdefault(_scope(command.words[0], path), []).append((path, command))
    libraries = {name for name, found in declared.items() if any(command.name == _ADDS[0] for _, command in found)}
    links = [
        (_scope(command.words[0], path), {_scope(item, path) for item in command.words[1:]})
        for path, command in parsed
        if command.name == "target_link_libraries"
    ]
    reached = {_scope(name, path) for name, path in linked}
    while more := {target for target, items in links if target in libraries and reached & items} - reached:
        reached |= more
    return [
        Library(
            name=name, file=shared[0][0], is_undecided=not any(_SHARED & set(command.words) for _, command in shared)
        )
        for (name, _), declarations in declared.items()
        if _scope(name, declarations[0][0]) in reached
        and (shared := [(path, command) for path, command in declarations if not _ARCHIVES & set(command.words)])
    ]


def names_in(file: Path, libraries: Iterable[Library]) -> list[str]:
    """The names of these libraries that mean them in a CMake file, too."""
    return [library.name for library in libraries if "$" not in library.name or library.file == file]


def _scope(name: str, file: Path) -> Scoped:
    """A target's identity: a name with a variable in it is known in its own file only."""
    return name, file if "$" in name else None

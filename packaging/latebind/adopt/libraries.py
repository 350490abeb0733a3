"""Which libraries of a CMake project need a runtime, by what target_link_libraries() says."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path  # tools read the types of the dataclass
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from latebind.adopt.cmake import Command

ADDS = ("add_library", "pybind11_add_module", "nanobind_add_module", "python_add_library")
_ARCHIVES = frozenset({"STATIC", "OBJECT", "INTERFACE", "IMPORTED", "ALIAS"})
_ONE_VALUE = 2  # words of set(NAME value)
_SHARED = frozenset({"SHARED", "MODULE"})

Scoped = tuple[str, Path | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PackableLibrary:
    """A library as its CMake file declares it."""

    name: str
    """As it is written: `voice`, or `${PROJECT_NAME}`, which is another target in each file."""
    file: Path
    variables: tuple[str, ...]
    """`${NAME}` of each variable that holds this name alone."""
    is_undecided: bool
    """Whether BUILD_SHARED_LIBS decides that it is shared: add_library() without a type."""
    line: int = 0
    """The line of the command that makes it, as CMake reports it; 0 where CMake was not asked."""
    component: str | None = None
    """Its install component, as CMake reports it; "" for an install() without COMPONENT, None for no install()."""


def list_libraries(files: Mapping[Path, str], linked: Iterable[tuple[str, Path]]) -> list[PackableLibrary]:
    """The libraries that a package can hold: shared libraries and modules that need a runtime.

    `linked` are the targets that link a runtime, with the file that says so. A library that links one of them needs the
    runtime, too: often the runtime is linked by a static core. Modules of Python count where they link it themselves.
    """
    parsed = [(path, command) for path, text in files.items() for command in commands(text) if command.words]
    values = _list_values(command for _, command in parsed)
    declared: dict[Scoped, list[tuple[Path, Command]]] = {}
    for path, command in parsed:
        for scoped in _scopes(command.words[0], path, values) if command.name in ADDS else ():
            declared.setdefault(scoped, []).append((path, command))
    libraries = {name for name, found in declared.items() if any(command.name == ADDS[0] for _, command in found)}
    links = [
        (target, {item for word in command.words[1:] for item in _scopes(word, path, values)})
        for path, command in parsed
        if command.name == "target_link_libraries"
        for target in _scopes(command.words[0], path, values)
    ]
    reached = {target for name, path in linked for target in _scopes(name, path, values)}
    while more := {target for target, items in links if target in libraries and reached & items} - reached:
        reached |= more
    return [
        PackableLibrary(
            name=name,
            file=shared[0][0],
            variables=tuple(variable for variable, held in values.items() if held == {name}),
            is_undecided=not any(has_type(command) for _, command in shared),
        )
        for (name, scope), declarations in declared.items()
        if (name, scope) in reached
        and (shared := [(path, command) for path, command in declarations if not _ARCHIVES & set(command.words)])
    ]


def has_type(command: Command) -> bool:
    """Whether an add_library() says by itself that the library is shared."""
    return command.name != ADDS[0] or bool(_SHARED & set(command.words))


def names_in(file: Path, libraries: Iterable[PackableLibrary]) -> list[str]:
    """The names of these libraries that mean them in a CMake file, too."""
    return [
        name
        for library in libraries
        if "$" not in library.name or library.file == file
        for name in (library.name, *library.variables)
    ]


def _list_values(parsed: Iterable[Command]) -> dict[str, set[str]]:
    """What set() may put into each variable, by `${NAME}`: plain words alone, from all branches of if()."""
    values: dict[str, set[str]] = {}
    for command in parsed:
        if command.name == "set" and len(command.words) == _ONE_VALUE and "$" not in command.words[1]:
            values.setdefault(f"${{{command.words[0]}}}", set()).add(command.words[1])
    return values


def _scopes(name: str, file: Path, values: Mapping[str, set[str]]) -> set[Scoped]:
    """The identities of the targets that a name may mean. Where that isn't known, it means one of its own file."""
    known = values.get(name, set()) if name.startswith("${") else {name}
    return {(value, None) for value in known} if known and "$" not in "".join(known) else {(name, file)}

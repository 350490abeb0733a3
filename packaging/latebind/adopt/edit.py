"""Edits the text of a CMake file so that its libraries can be packed; reads and writes no files."""

from __future__ import annotations

from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands
from latebind.adopt.find import runtime_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from latebind.adopt.cmake import Command

_HEADERS = {".h", ".hh", ".hpp", ".hxx", ".inc"}


def edit_cmake(
    text: str,
    components: Collection[str],
    component: str,
    variables: Mapping[str, str] = MappingProxyType({}),
    alone: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """The text with the targets `components` installed as `component`; what they link stays as it is.

    The headers that the file installs become part of it, if they have no component.

    `alone` are targets that no install() names, by the line of the command that makes them.
    """
    changes: list[tuple[int, str]] = []
    parsed = commands(text)
    installed = set(list_installed(text))
    for command in parsed if components else ():
        changes += [(position, f" COMPONENT {component}") for position in _find_headers_end(command)]
    for command in parsed:
        if command.name == "target_link_libraries" and any(
            runtime_of(argument, variables) for argument in command.words[1:]
        ):
            if command.words[0] in components and command.words[0] not in installed:
                line = f"\n{_indent(text, command.start)}install(TARGETS {command.words[0]} COMPONENT {component})"
                changes.append((command.end, line))
                installed.add(command.words[0])
        elif (
            (targets := _find_installed_targets(command))
            and "COMPONENT" not in command.words
            and set(targets) <= set(components)
        ):
            changes.append((command.arguments[len(targets)].end, f" COMPONENT {component}"))
    made = [(command, alone[command.line]) for command in parsed if command.line in alone]
    changes += [
        (command.end, f"\n{_indent(text, command.start)}install(TARGETS {name} COMPONENT {component})")
        for command, name in made
        if name not in installed
    ]
    for position, new in sorted(changes, reverse=True):
        text = text[:position] + new + text[position:]
    return text


def list_installed(text: str) -> list[str]:
    """The targets that install(TARGETS ...) names in a file, as they are written."""
    return [name for command in commands(text) for name in _find_installed_targets(command)]


def _find_installed_targets(command: Command) -> tuple[str, ...]:
    """The targets of install(TARGETS ...)."""
    if command.name != "install" or command.words[:1] != ("TARGETS",):
        return ()
    names = []
    for argument in command.words[1:]:
        if argument.isupper() and "$" not in argument:
            break
        names.append(argument)
    return tuple(names)


def _find_headers_end(command: Command) -> list[int]:
    """Where COMPONENT belongs in an install() of headers that has none: after the destination."""
    words = command.words
    kinds = [index for index, word in enumerate(words) if word in ("DESTINATION", "TYPE")]
    if command.name != "install" or words[:1] not in (("FILES",), ("DIRECTORY",)) or "COMPONENT" in words or not kinds:
        return []
    index = kinds[0]
    if index + 1 >= len(words):
        return []
    are_headers = all(PurePosixPath(word).suffix in _HEADERS for word in words[1:index])
    if words[0] == "DIRECTORY" or not are_headers:
        folder = words[index + 1]
        if not (folder in ("INCLUDE", "${CMAKE_INSTALL_INCLUDEDIR}") or folder.split("/")[0] == "include"):
            return []
    return [command.arguments[index + 1].end]


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line if line.isspace() else ""

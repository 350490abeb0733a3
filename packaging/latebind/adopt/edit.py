"""Edits the text of a CMake file so that its libraries can be packed; reads and writes no files."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands
from latebind.adopt.find import runtime_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from latebind.adopt.cmake import Command


def edit_cmake(
    text: str,
    components: Collection[str],
    component: str,
    variables: Mapping[str, str] = MappingProxyType({}),
    alone: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """The text with the targets `components` installed as `component`; what they link stays as it is.

    `alone` are targets that no install() names, by the line of the command that makes them.
    """
    changes: list[tuple[int, str]] = []
    parsed = commands(text)
    installed = set(list_installed(text))
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


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line if line.isspace() else ""

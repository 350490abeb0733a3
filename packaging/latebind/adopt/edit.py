"""Edits the text of a CMake file so that its libraries can be packed; reads and writes no files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands
from latebind.adopt.find import runtime_of
from latebind.adopt.libraries import ADDS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from latebind.adopt.cmake import Command

_STARTS = frozenset({"if", "foreach", "while", "function", "macro", "block"})
_ENDS = frozenset({f"end{name}" for name in _STARTS})
_HEADERS = {".h", ".hh", ".hpp", ".hxx", ".inc"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What CMake knows about the lines of a file."""

    alone: Mapping[int, str] = field(default_factory=dict)
    """The targets that no install() names, by the line of the command that makes them."""
    ran: Collection[int] | None = None
    """The lines of the commands that ran; None if CMake was not asked."""

    def has_run(self, command: Command) -> bool:
        """Whether a command ran, as far as is known."""
        return self.ran is None or command.line in self.ran


def edit_cmake(
    text: str,
    components: Collection[str],
    component: str,
    variables: Mapping[str, str] = MappingProxyType({}),
    lines: Lines | None = None,
) -> str:
    """The text with the targets `components` installed as `component`; what they link stays as it is.

    The headers that the file installs become part of it, if they have no component. `lines` is what CMake says.
    """
    lines = lines or Lines()
    changes: list[tuple[int, str]] = []
    parsed = commands(text)
    installed = set(list_installed(text))
    for command in (command for command in parsed if components and lines.has_run(command)):
        changes += [(position, f" COMPONENT {component}") for position in _find_headers_end(command)]
    for command in parsed:
        if command.name == "target_link_libraries" and any(
            runtime_of(argument, variables) for argument in command.words[1:]
        ):
            if command.words[0] in components and command.words[0] not in installed:
                anchor = _find_anchor(command, parsed)
                changes.append((anchor.end, _install(text, anchor, command.words[0], component, parsed)))
                installed.add(command.words[0])
        elif (
            (targets := _find_installed_targets(command))
            and "COMPONENT" not in command.words
            and set(targets) <= set(components)
        ):
            changes.append((command.arguments[len(targets)].end, f" COMPONENT {component}"))
    changes += [
        (command.end, _install(text, command, name, component, parsed))
        for command in parsed
        if (name := lines.alone.get(command.line)) and name not in installed
    ]
    for position, new in sorted(changes, reverse=True):
        text = text[:position] + new + text[position:]
    return text


def _find_anchor(link: Command, parsed: Sequence[Command]) -> Command:
    """The command after which a target is installed: the one that links it, unless only that one is in an if()."""
    depth, depths = 0, {}
    for command in parsed:
        depth -= command.name in _ENDS
        depths[command.start] = depth
        depth += command.name in _STARTS
    adding = _find_adding(parsed, link.words[0])
    return next((command for command in adding if depths[command.start] < depths[link.start]), link)


def _find_adding(parsed: Sequence[Command], target: str) -> list[Command]:
    """The commands that add a target."""
    return [command for command in parsed if command.name in ADDS and command.words[:1] == (target,)]


def _install(text: str, after: Command, target: str, component: str, parsed: Sequence[Command]) -> str:
    """The line that installs a target, indented as a command. Of a module, CMake wants a destination."""
    adding = _find_adding(parsed, target)
    is_module = any(command.name != ADDS[0] or "MODULE" in command.words for command in adding)
    destination = " LIBRARY DESTINATION lib" if is_module else ""
    return f"\n{_indent(text, after.start)}install(TARGETS {target} COMPONENT {component}{destination})"


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

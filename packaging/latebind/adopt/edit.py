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
    text: str, components: Collection[str], component: str, variables: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The text with the targets `components` installed as `component`; what they link stays as it is."""
    changes: list[tuple[int, str]] = []
    rows = commands(text)
    installed = {word for row in rows if row.name == "install" for word in _installed(row)}
    for row in rows:
        if row.name == "target_link_libraries" and any(runtime_of(word, variables) for word in row.words[1:]):
            if row.words[0] in components and row.words[0] not in installed:
                line = f"\n{_indent(text, row.start)}install(TARGETS {row.words[0]} COMPONENT {component})"
                changes.append((row.end, line))
                installed.add(row.words[0])
        elif (targets := _installed(row)) and "COMPONENT" not in row.words and set(targets) <= set(components):
            changes.append((row.arguments[len(targets)].end, f" COMPONENT {component}"))
    for place, new in sorted(changes, reverse=True):
        text = text[:place] + new + text[place:]
    return text


def _installed(row: Command) -> tuple[str, ...]:
    """The targets of install(TARGETS ...)."""
    if row.name != "install" or row.words[:1] != ("TARGETS",):
        return ()
    found = []
    for word in row.words[1:]:
        if word.isupper():
            break
        found.append(word)
    return tuple(found)


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line if line.isspace() else ""

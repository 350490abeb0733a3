"""The text of a CMake file that is packed, and binds late what has no stub; decides on text alone, touches no file."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands
from latebind.adopt.find import KEYWORDS, runtime_of
from latebind.tables.presets import preset

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from latebind.adopt.cmake import Command

_PACKAGE = "find_package(latebind CONFIG REQUIRED)"


def edit_cmake(
    text: str, components: Collection[str], component: str, variables: Mapping[str, str] = MappingProxyType({})
) -> str:
    """A CMake file in which no target links a runtime without a stub; what has one is linked as before.

    `components` are the targets to be installed as `component`.
    """
    changes: list[tuple[int, int, str]] = []
    rows = commands(text)
    asked = any(row.name == "find_package" and row.words[:1] == ("latebind",) for row in rows)
    installed = {word for row in rows if row.name == "install" for word in _installed(row)}
    for row in rows:
        if row.name == "find_package" and row.words and _to_bind(row.words[0], {}):
            changes.append((row.start, row.end, "" if asked else _PACKAGE))
            asked = True
        elif row.name == "target_link_libraries" and any(runtime_of(word, variables) for word in row.words[1:]):
            lines = [text[row.start : row.end]]
            if any(_to_bind(word, variables) for word in row.words[1:]):
                lines = [*([] if asked else [_PACKAGE]), *_link(text, row, variables)]
                asked = True
            if row.words[0] in components and row.words[0] not in installed:
                lines.append(f"install(TARGETS {row.words[0]} COMPONENT {component})")
                installed.add(row.words[0])
            changes.append((row.start, row.end, f"\n{_indent(text, row.start)}".join(lines)))
        elif (targets := _installed(row)) and "COMPONENT" not in row.words and set(targets) <= set(components):
            end = row.arguments[len(targets)].end
            changes.append((end, end, f" COMPONENT {component}"))
    for start, end, new in sorted(changes, reverse=True):
        after = end + 1 if not new and text[end : end + 1] == "\n" else end
        text = text[:start] + new + text[after:]
    return text


def _to_bind(item: str, variables: Mapping[str, str]) -> str:
    """The runtime of an item of a link line when code must bind it, since it has no stub."""
    runtime = runtime_of(item, variables)
    return runtime if runtime and not preset(runtime).stub else ""


def _link(text: str, row: Command, variables: Mapping[str, str]) -> list[str]:
    """The link line without those runtimes, where something is left of it, and the calls that bind them."""
    target = row.words[0]
    runtimes = list(dict.fromkeys(filter(None, (_to_bind(word, variables) for word in row.words[1:]))))
    bound = [f"latebind_add_runtime({target} {runtime})" for runtime in runtimes]
    bound.append(f"latebind_hardening({target})")
    rest = [argument for argument in row.arguments[1:] if not _to_bind(argument.text, variables)]
    kept = [
        argument for index, argument in enumerate(rest)
        if argument.text not in KEYWORDS or (index + 1 < len(rest) and rest[index + 1].text not in KEYWORDS)
    ]  # fmt: skip
    if kept:
        shown = " ".join(text[argument.start : argument.end] for argument in kept)
        bound.insert(0, f"target_link_libraries({target} {shown})")
    return bound


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

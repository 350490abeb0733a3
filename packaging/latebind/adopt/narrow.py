"""Narrows what the text of a project says down to what CMake did with it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands
from latebind.adopt.find import Mention, runtime_of
from latebind.adopt.libraries import ADDS, PackableLibrary, has_type

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from latebind.adopt.cmake import Command
    from latebind.adopt.configure import ConfiguredProject, LinkedLibrary
    from latebind.adopt.find import Found

_HEADERS = (".h", ".hpp")
_INCLUDE = re.compile(r'^\s*#\s*include\s*["<](?:[^">]*/)?([^">/]+)[">]', re.MULTILINE)


def narrow(discovery: Found, project: ConfiguredProject) -> Found:
    """The same project with the commands that ran, the libraries that link a runtime, and the files in them."""
    parsed = {(path, command.line): command for path, text in discovery.files.items() for command in commands(text)}
    ran = [mention for mention in discovery.mentions if (mention.file, mention.command.line) in project.calls]
    texts = {path: path.read_text("utf-8", "replace") for path in project.sources if path.is_file()}
    included = {name for text in texts.values() for name in _INCLUDE.findall(text)}
    return replace(
        discovery,
        mentions=(*(mention for mention in ran if mention.kind != "link"), *_list_links(parsed, project)),
        ran=frozenset(project.calls),
        libraries=tuple(_name_library(library, parsed) for library in project.libraries),
        objects=tuple(
            item
            for item in discovery.objects
            if item[0] in texts or (item[0].suffix in _HEADERS and item[0].name in included)
        ),
        uncaught=tuple(path for path in discovery.uncaught if path in texts),
    )


def _list_links(parsed: dict[tuple[Path, int], Command], project: ConfiguredProject) -> Iterator[Mention]:
    """What linked a runtime, with the name of the target and whatever a variable held."""
    for place, command in parsed.items():
        if command.name not in ("target_link_libraries", "link_libraries"):
            continue
        for arguments in project.calls.get(place, ()):
            items = [item for argument in arguments for item in argument.split(";")]
            for runtime in dict.fromkeys(filter(None, map(runtime_of, items))):
                target = items[0] if command.name == "target_link_libraries" else ""
                yield Mention(kind="link", runtime=runtime, file=place[0], command=command, target=target)


def _name_library(library: LinkedLibrary, parsed: dict[tuple[Path, int], Command]) -> PackableLibrary:
    """The library under the name that its add_library() has, or with the call of the function that makes it."""
    path, line = library.place
    command = parsed.get(library.place)
    is_plain = command is not None and command.name in ADDS
    return PackableLibrary(
        name=command.words[0] if command and is_plain else library.name,
        file=path,
        variables=(),
        is_undecided=command is not None and is_plain and not has_type(command),
        line=line,
        component=library.component,
    )

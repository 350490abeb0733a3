"""Narrows what the text of a project says down to what CMake did with it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands
from latebind.adopt.configure import DEPENDENCIES
from latebind.adopt.find import Mention, runtime_of
from latebind.adopt.libraries import ADDS, PackableLibrary, has_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from latebind.adopt.cmake import Command
    from latebind.adopt.configure import ConfiguredProject, LinkedLibrary, Place
    from latebind.adopt.find import Found

_HEADERS = (".h", ".hpp")
_INCLUDE = re.compile(r'^\s*#\s*include\s*["<](?:[^">]*/)?([^">/]+)[">]', re.MULTILINE)


def narrow(discovery: Found, project: ConfiguredProject) -> Found:
    """The same project with the commands that ran, the libraries that link a runtime, and the files in them."""
    parsed = {(path, command.line): command for path, text in discovery.files.items() for command in commands(text)}
    ran = [mention for mention in discovery.mentions if (mention.file, mention.command.line) in project.calls]
    texts = {path: path.read_text("utf-8", "replace") for path in project.sources if path.is_file()}
    links = () if project.are_operators else _list_links(parsed, project)
    included = {name for text in texts.values() for name in _INCLUDE.findall(text)}
    return replace(
        discovery,
        mentions=(*(mention for mention in ran if mention.kind != "link"), *links),
        ran=frozenset(place for place, calls in project.calls.items() if not _installs_dependency(calls)),
        libraries=tuple(_name_library(library, parsed) for library in project.libraries),
        objects=tuple(
            item
            for item in discovery.objects
            if item[0] in texts or (item[0].suffix in _HEADERS and item[0].name in included)
        ),
        uncaught=tuple(path for path in discovery.uncaught if path in texts),
    )


def leave_out_passed(discovery: Found, calls: Mapping[Place, list[list[str]]]) -> Found:
    """The same project without what CMake passed over before it stopped, and without guesses about what is built.

    A command did not run, and will not, if a later one of its file ran. What functions contain may still be called.
    """
    last: dict[Path, int] = {}
    inside: dict[Path, set[int]] = {path: _list_function_lines(text) for path, text in discovery.files.items()}
    for path, line in calls:
        if line not in inside.get(path, ()):
            last[path] = max(line, last.get(path, 0))

    def may_run(mention: Mention) -> bool:
        path, line = mention.file, mention.command.line
        return (path, line) in calls or line > last.get(path, 0) or line in inside[path]

    return replace(discovery, mentions=tuple(filter(may_run, discovery.mentions)), uncaught=())


def _list_function_lines(text: str) -> set[int]:
    """The lines of commands inside functions and macros."""
    depth, lines = 0, set[int]()
    for command in commands(text):
        depth -= command.name in ("endfunction", "endmacro")
        lines |= {command.line} if depth else set()
        depth += command.name in ("function", "macro")
    return lines


def _installs_dependency(calls: list[list[str]]) -> bool:
    """Whether a command is install() of files that a dependency has: its headers are not the project's."""
    first = calls[0]
    if first[:1] not in (["FILES"], ["DIRECTORY"]):
        return False
    files = list(takewhile(lambda argument: not argument.isupper(), first[1:]))
    return bool(files) and all(DEPENDENCIES in Path(file).parts for file in files)


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

"""Refuses control characters in a configuration: its texts go into file names, XML, workflows and build files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from latebind.config.reader import format_key
from loadcheck.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.config.reader import Key, Reader

_FREE = (("audit", "waive"), ("native", "define"))
"""Where texts of several lines are useful: reports escape reasons, and CMake gets definitions as they are."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Control characters, line ends, and what reorders the text around it."""
_SEPARATORS = "/\\:"


def check_texts(raw: dict[str, Any], reader: Reader) -> None:
    """Check that keys and texts are plain lines, and that the project's name can be part of a file name."""
    for path, text in _list_texts(raw, ()):
        if _CONTROL.search(text):
            key = printable(format_key(path))
            reader.problem(path, f"{key} has line breaks or control characters", "Write it as one plain line.")
    project = raw.get("project")
    name = project.get("name", "") if isinstance(project, dict) else ""
    if isinstance(name, str) and set(_SEPARATORS) & set(name):
        text = f"project.name contains one of {' '.join(_SEPARATORS)}, but file names contain the project's name"
        reader.problem(("project", "name"), text, "Remove the character from the name.")


def _list_texts(value: Any, path: tuple[Key, ...]) -> Iterator[tuple[tuple[Key, ...], str]]:
    """All keys and texts of a table, each with its place."""
    if path[:2] in _FREE or (path[:1] == ("targets",) and path[2:3] == ("define",)):
        return
    if isinstance(value, str):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        if isinstance(key, str):
            yield (*path, key), key
        yield from _list_texts(inner, (*path, key))

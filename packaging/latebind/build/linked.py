"""Reads from CMake's file API which targets link a runtime, and which line of the project says so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from latebind.tables.presets import presets
from loadcheck.engine.policy import fits_any


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkItem:
    """A library on the link line of a target, which a command of the project put there."""

    target: Mapping[str, Any]
    """The target, as cmake-file-api(7) describes the object "target" of the code model."""
    item: str
    """A path, or `-l` and a name."""
    place: str
    """The file and line of the command: `CMakeLists.txt:6`."""


def list_link_items(targets: Iterable[Mapping[str, Any]], root: Path) -> Iterator[LinkItem]:
    """The libraries that the targets of list_targets() link, with places relative to `root`."""
    for item in targets:
        for fragment in item.get("link", {}).get("commandFragments", ()):
            if fragment["role"] == "libraries" and "backtrace" in fragment:
                place = find_place(item["backtraceGraph"], fragment["backtrace"], root)
                yield LinkItem(target=item, item=fragment["fragment"].strip().strip('"'), place=place)


def name_runtime(item: str) -> str:
    """The runtime whose file an item of a link line is, by its path or as -l; "" if it is another library."""
    name = PurePosixPath(item.replace("\\", "/")).name
    name = f"lib{item[2:]}.so" if item.startswith("-l") else name
    return next((key for key, preset in presets().items() if fits_any(name, preset.linked_globs)), "")


def find_place(graph: Mapping[str, Any], index: int | None, root: Path) -> str:
    """`CMakeLists.txt:6`: the command that a backtrace starts at, or the one of the project that led to it."""
    while index is not None:
        node = graph["nodes"][index]
        path = root / graph["files"][node["file"]]
        if path.is_relative_to(root) and "line" in node:
            return f"{path.relative_to(root).as_posix()}:{node['line']}"
        index = node.get("parent")
    return "CMakeLists.txt"

"""Replaces what a project would download, so that CMake can configure the rest of it without a network.

Each dependency becomes the same folder, which is almost empty. loader/absent.cmake passes over the targets that it
does not define. Where CMake stops because a file of a dependency is missing, an empty one is made, and it goes on.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from latebind.adopt.cmake import commands
from latebind.build.downloads import find_refused

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping
    from pathlib import Path

    from latebind.adopt.find import Found
    from latebind.system.run import Completed

_DECLARATIONS = frozenset({"fetchcontent_declare", "cpmaddpackage", "externalproject_add"})
_NAME = re.compile(r"[\w.+-]+")
_LINKED = re.compile(r"links to:\s+([\w.+-]+::[\w.+:-]+)\s+but the target was not found")
_ATTEMPTS = 12
"""Each takes about a second, and often several files are missing at once."""


def list_declared(discovery: Found, ran: Container[tuple[Path, int]] | None = None) -> list[str]:
    """The dependencies that CMake files declare by a plain name, sorted; with `ran`, only by these commands."""
    declared = {
        command.words[command.words[0] == "NAME"]
        for path, text in discovery.files.items()
        for command in commands(text)
        if command.name in _DECLARATIONS and len(command.words) > 1 and (ran is None or (path, command.line) in ran)
    }
    return sorted(name for name in declared if _NAME.fullmatch(name))


def configure_without(
    configure: Callable[[Mapping[str, str | Path]], Completed], names: Iterable[str], folder: Path
) -> Completed:
    """Call `configure` with CMake's variables until it succeeds without these dependencies, or nothing helps.

    `folder` will stand for each of them. Returns how CMake ended.
    """
    absent, targets = set(names), set[str]()
    folder.mkdir()
    (folder / "CMakeLists.txt").touch()
    for _ in range(_ATTEMPTS):
        ended = configure(_define(absent, targets, folder))
        if ended.returncode == 0:
            break
        before = len(absent) + len(targets)
        absent |= {find_refused(ended.output)} - {""}
        targets |= set(_LINKED.findall(ended.output))
        if not _make_missing(ended.output, folder) and len(absent) + len(targets) == before:
            break
    return ended


def _define(names: Iterable[str], targets: Iterable[str], folder: Path) -> dict[str, str | Path]:
    fetched = {f"FETCHCONTENT_SOURCE_DIR_{name.upper()}": folder for name in names}
    added = {f"CPM_{name}_SOURCE": folder for name in names}
    return {"LATEBIND_ABSENT": folder, "LATEBIND_ABSENT_TARGETS": ";".join(sorted(targets)), **fetched, **added}


def _make_missing(output: str, folder: Path) -> bool:
    """Make the files with a suffix, and the folders, that errors name below the folder.

    Returns whether any was missing.
    """
    named = re.findall(re.escape(folder.as_posix()) + r"/([\w.+/-]+)", output)
    paths = {(folder / name.rstrip("./")).resolve() for name in named}
    missing = [path for path in sorted(paths) if path.is_relative_to(folder.resolve()) and not path.exists()]
    for path in missing:
        home = path.parent if path.suffix else path
        home.mkdir(parents=True, exist_ok=True)
        (path if path.suffix else home / "CMakeLists.txt").touch()
    return bool(missing)

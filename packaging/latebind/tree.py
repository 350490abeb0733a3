"""Folders of sources: which files belong to them, and one hash of all; decides nothing about what they mean."""

from __future__ import annotations

import hashlib
import os
import shutil
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_IGNORED = frozenset({".git", "__pycache__", ".DS_Store"})
_SCRATCH = ("*.pyc", ".#*", "*~", "*.swp", "#*#")
"""What interpreters and editors leave beside sources."""


def hash_tree(
    root: Path,
    *,
    without: frozenset[str] = frozenset(),
    not_at_top: frozenset[str] = frozenset(),
    modes: bool = True,
) -> str:
    """A hash of the names, contents and executable bits of all files below a folder; times and its place do not count.

    `without` are names of folders that are left out, `not_at_top` those in the folder itself. Without `modes` the hash
    is the same on Windows, which has no executable bits.
    """
    digest = hashlib.sha256()
    for path in list_tree(root, without=without, not_at_top=not_at_top):
        mark = b"x" if modes and path.stat().st_mode & 0o100 else b"-"
        digest.update(path.relative_to(root).as_posix().encode("utf-8", "surrogateescape") + b"\0" + mark)
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def hash_file(path: Path) -> str:
    """A hash of one file's content; "" when it is not there."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def link_or_copy(source: Path, destination: Path) -> None:
    """The same file under another name where the file system can, else a copy of it."""
    try:
        os.link(source, destination)
    except OSError:
        shutil.copy2(source, destination)


def list_tree(
    root: Path, *, without: frozenset[str] = frozenset(), not_at_top: frozenset[str] = frozenset()
) -> list[Path]:
    """The regular files below a folder, sorted by their name from there. Links are followed, each folder once."""
    files = _walk(root, without | _IGNORED, not_at_top)
    return sorted(files, key=lambda path: path.relative_to(root).as_posix())


def _walk(root: Path, ignored: frozenset[str], not_at_top: frozenset[str]) -> Iterator[Path]:
    seen: set[str] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        real = os.path.realpath(folder)
        if real in seen:  # a link that leads back up
            folders.clear()
            continue
        seen.add(real)
        folders[:] = set(folders) - ignored - (not_at_top if len(seen) == 1 else frozenset())
        for name in files:
            path = root / folder / name
            scratch = name in ignored or any(fnmatchcase(name, pattern) for pattern in _SCRATCH)
            if not scratch and path.is_file():
                yield path

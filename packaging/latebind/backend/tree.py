"""Lists the source files of a folder and hashes them."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol


class Folders(Protocol):
    """A set of folders that reports whether a path is one of them."""

    def __contains__(self, path: Path) -> bool:
        """Whether the resolved path is one of the folders."""


_NONE: frozenset[Path] = frozenset()

_IGNORED = frozenset({
    *("__pycache__", ".DS_Store", ".git", ".hg", ".hatch", ".nox", ".tox", ".venv", ".pixi"),
    *(".mypy_cache", ".pytest_cache", ".ruff_cache"),
})  # fmt: skip
"""Folders and files that are never sources; hatchling leaves out the same (hatchling.builders.constants)."""
_SCRATCH = ("*.pyc", ".#*", "*~", "*.swp", "#*#", ".*.part")
"""Files that interpreters, editors and latebind itself leave among sources."""


def hash_tree(
    root: Path,
    *,
    without: frozenset[str] = frozenset(),
    outputs: Folders = _NONE,
    modes: bool = True,
) -> str:
    """A hash of the names, contents and executable bits of all files below a folder; times and its path do not count.

    `without` and `outputs` are as in list_tree(). Without `modes` the hash is the same on Windows, which has no
    executable bits.
    """
    return hash_files(root, list_tree(root, without=without, outputs=outputs), modes=modes)


def hash_files(root: Path, files: Iterable[Path], *, modes: bool = True) -> str:
    """A hash of the names, contents and executable bits of some files below a folder, in their order."""
    digest = hashlib.sha256()
    for path in files:
        mark = b"x" if modes and path.stat().st_mode & 0o100 else b"-"
        digest.update(path.relative_to(root).as_posix().encode("utf-8", "surrogateescape") + b"\0" + mark)
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def hash_file(path: Path) -> str:
    """A hash of one file's content; "" when it is not there."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def link_or_copy(source: str | Path, destination: str | Path) -> None:
    """A hard link to the file where the file system supports it, else a copy."""
    try:
        os.link(source, destination)
    except OSError:
        shutil.copy2(source, destination)


def list_tree(root: Path, *, without: frozenset[str] = frozenset(), outputs: Folders = _NONE) -> list[Path]:
    """The regular files below a folder, sorted by their name from there. Links are followed, each folder once.

    `without` are names of folders that are left out wherever they are, `outputs` certain folders, by resolved path.
    """
    files = _walk(root, without, outputs)
    return sorted(files, key=lambda path: path.relative_to(root).as_posix())


def is_scratch(name: str) -> bool:
    """Whether a file or folder of that name is never a source, wherever it is."""
    return name in _IGNORED or any(fnmatchcase(name, pattern) for pattern in _SCRATCH)


def is_generated(folder: Path) -> bool:
    """Whether a folder is a virtual environment or a build tree of CMake, by the file that each has at its top.

    A folder of sources in which CMake builds has a CMakeLists.txt, too.
    """
    is_build_tree = (folder / "CMakeCache.txt").is_file() and not (folder / "CMakeLists.txt").is_file()
    return is_build_tree or (folder / "pyvenv.cfg").is_file()


def _walk(root: Path, without: frozenset[str], outputs: Folders) -> Iterator[Path]:
    seen: set[Path] = set()
    for folder, folders, files in os.walk(root, followlinks=True):
        real = Path(os.path.realpath(folder))
        if real in seen or (seen and real in outputs):  # a link that leads back up, or an output
            folders.clear()
            continue
        seen.add(real)
        visited = {name for name in folders if not is_scratch(name) and not is_generated(root / folder / name)}
        folders[:] = visited - without
        for name in files:
            path = root / folder / name
            if name not in without and not is_scratch(name) and path.is_file():
                yield path

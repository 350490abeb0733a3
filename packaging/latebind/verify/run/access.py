"""Read-only folders, and the unprivileged user that a program runs as in them; for Linux and macOS."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from latebind.compilers.interpreters import list_closed_folders
from latebind.errors import NotRun

NOBODY = 65534
"""The user and group that own nothing, by the number that Linux and macOS count down to (nobody is -2 on macOS)."""
_WRITE, _READ_ALL = 0o222, 0o444


def is_root() -> bool:
    """Whether permissions mean nothing to this process."""
    return os.name == "posix" and os.geteuid() == 0


def assert_reached(*paths: Path) -> None:
    """Raises NotRun (`no-access`) for a path that another user cannot reach."""
    for path in paths:
        if closed := list_closed_folders(path):
            command = shlex.join(["chmod", "o+x", *map(str, closed)])
            raise NotRun("no-access", f"another user cannot reach {path.parent}\nhelp: {command}")


def lock(folder: Path) -> None:
    """Make a folder and everything below read-only, and readable for everybody.

    A file that nobody may read stays so. Symbolic links are left alone: they may lead out of the folder.
    """
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():
            continue
        mode = path.stat().st_mode
        if mode & 0o777:
            path.chmod((mode & ~_WRITE) | (0o555 if path.is_dir() else _READ_ALL | (0o111 if mode & 0o100 else 0)))


def unlock(folder: Path) -> None:
    """Let the owner write again, so that the folder can be removed."""
    for path in (folder, *folder.rglob("*")):
        if path.is_dir() and not path.is_symlink():
            path.chmod(path.stat().st_mode | 0o700)


def hand_over(*folders: Path) -> None:
    """Give folders to NOBODY, when this process may."""
    if is_root():
        for folder in folders:
            os.chown(folder, NOBODY, NOBODY)

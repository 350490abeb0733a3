"""Read-only folders, and the unprivileged user that a program runs as in them; for Linux and macOS."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.compilers import dotnet
from latebind.compilers.interpreters import list_closed_folders
from latebind.errors import LatebindError, NotRun
from latebind.system.run import run

if TYPE_CHECKING:
    from latebind.verify.run.bench import Bench

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


def lock_application(
    bench: Bench, out: Path, answers: Path, library: Path | None, environment: Mapping[str, str]
) -> int | None:
    """Lock a .NET application as its situation asks, prove it, and return the user that runs it: None is this one.

    `out` is the application's folder, `library` the runtime's in it, `answers` where the consumer writes.

    Raises NotRun (`no-access`) where another user cannot reach what it needs, LatebindError when something is not
    denied that must be.
    """
    if not bench.situation.unprivileged:
        return None
    user = NOBODY if is_root() else None
    if user is not None:
        assert_reached(out / "application", dotnet.find(environment).resolve(), bench.data())
    if bench.situation.unreadable and library is not None:
        library.chmod(0)
        _assert_denied(["head", "-c", "1", library], user, f"{library} can be read")
    lock(out)
    _assert_denied(["touch", out / "probe"], user, f"{out} can be written to")
    hand_over(bench.work / "home", answers)
    return user


def _assert_denied(argv: list[str | Path], user: int | None, otherwise: str) -> None:
    if run(argv, user=user, check=False).returncode == 0:
        who = "this user" if user is None else f"user {user}"
        raise LatebindError(f"{otherwise} by {who}: this file system ignores permissions")

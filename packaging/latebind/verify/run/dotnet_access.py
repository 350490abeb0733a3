"""A .NET application where nothing can be written, for somebody unprivileged; it proves that a write is denied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.errors import LatebindError
from latebind.nuget import dotnet
from latebind.system.run import run
from latebind.verify.run.access import NOBODY, assert_reached, hand_over, is_root, lock
from latebind.verify.run.dotnet_project import ANSWERS

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.verify.run.bench import Bench
    from latebind.verify.run.dotnet_project import Consumer, Made


def settle(bench: Bench, consumer: Consumer, made: Made, library: Path | None) -> int | None:
    """Lock an application as its situation says, prove it, and return the user that runs it: None is this one.

    `library` is the runtime's, in the application.

    Raises NotRun (`no-access`) where another user cannot reach what it takes, LatebindError when what must be denied
    is not.
    """
    if not bench.situation.unprivileged:
        return None
    user = NOBODY if is_root() else None
    if user is not None:
        program = dotnet.find(consumer.environment).resolve()
        assert_reached(made.out / "application", program, bench.data())
    if bench.situation.unreadable and library is not None:
        library.chmod(0)
        _assert_denied(["head", "-c", "1", library], user, f"{library} can be read")
    lock(made.out)
    _assert_denied(["touch", made.out / "probe"], user, f"{made.out} can be written to")
    hand_over(bench.work / "home", made.out.parent / ANSWERS)
    return user


def _assert_denied(argv: list[str | Path], user: int | None, otherwise: str) -> None:
    if run(argv, user=user, check=False).returncode == 0:
        raise LatebindError(f"{otherwise} by user {user}: this file system holds no permissions")

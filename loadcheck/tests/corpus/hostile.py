"""Work for the pool that dies on purpose; importable by name, since workers start afresh."""

from __future__ import annotations

import faulthandler
import os
import time
from typing import TYPE_CHECKING, NoReturn

from loadcheck.audit import Result, Task, audit_package

if TYPE_CHECKING:
    from collections.abc import Callable

VICTIM = "latenn/liblatenn.so"


def _abort(_: str) -> NoReturn:
    faulthandler.disable()  # pytest's own, which a fork inherits: it would print a page
    os.abort()


def _compute(_: str) -> NoReturn:
    while True:
        pass


def _fail(part: str) -> NoReturn:
    raise KeyError(part)


ENDS: dict[str, Callable[[str], object]] = {
    "aborts": _abort,
    "computes": _compute,
    "waits": lambda _: time.sleep(600),
    "naps": lambda _: time.sleep(2),
    "hoards": lambda _: bytearray(1 << 40),
    "fails": _fail,
}
"""What happens at the victim: a parser in native code dies, never comes back, takes all memory, or has a defect."""


def audit(task: Task, tell: Callable[[str], None], end: str) -> Result:
    """Audit, but end so when it comes to the victim."""

    def tell_and_end(part: str) -> None:
        tell(part)
        if part == VICTIM and part not in task.lost:
            ENDS[end](part)

    return audit_package(task, tell_and_end)


def audit_and(task: Task, tell: Callable[[str], None], end: str) -> Result:
    """Audit, and end so afterwards, where checks run."""
    result = audit_package(task, tell)
    ENDS[end]("")
    return result


def always_aborts(task: Task, tell: Callable[[str], None]) -> Result:
    """Die before anything is read."""
    del task, tell
    _abort("")


def double(task: int, tell: Callable[[str], None]) -> int:
    """Harmless work, to see the order of results."""
    tell("")
    time.sleep(0.01 * (task % 3))
    return task * 2

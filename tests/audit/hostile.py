"""Work for the pool that dies on purpose; importable by name, since workers start afresh."""

from __future__ import annotations

import faulthandler
import os
import time
from typing import TYPE_CHECKING, NoReturn

from latebind.audit.audit import Result, Task, audit_package

if TYPE_CHECKING:
    from collections.abc import Callable

VICTIM = "latenn/liblatenn.so"


def _abort() -> NoReturn:
    faulthandler.disable()  # pytest's own, which a fork inherits: it would print a page
    os.abort()


def aborts(task: Task, tell: Callable[[str], None]) -> Result:
    """Audit, but die as a parser in native code does when it comes to the victim."""

    def told(part: str) -> None:
        tell(part)
        if part == VICTIM and part not in task.lost:
            _abort()

    return audit_package(task, told)


def always_aborts(task: Task, tell: Callable[[str], None]) -> Result:
    """Die before anything is read."""
    del task, tell
    _abort()


def hangs(task: Task, tell: Callable[[str], None]) -> Result:
    """Audit, but never come back from the victim."""

    def told(part: str) -> None:
        tell(part)
        if part == VICTIM and part not in task.lost:
            time.sleep(600)

    return audit_package(task, told)


def hoards(task: Task, tell: Callable[[str], None]) -> Result:
    """Audit, but take all memory at the victim."""

    def told(part: str) -> None:
        tell(part)
        if part == VICTIM and part not in task.lost:
            bytearray(1 << 40)

    return audit_package(task, told)


def fails(task: Task, tell: Callable[[str], None]) -> Result:
    """A defect of a check."""

    def told(part: str) -> None:
        tell(part)
        if part == VICTIM and part not in task.lost:
            raise KeyError(part)

    return audit_package(task, told)


def double(task: int, tell: Callable[[str], None]) -> int:
    """Harmless work, to see the order of results."""
    tell("")
    time.sleep(0.01 * (task % 3))
    return task * 2

"""Distinguishes a forked child's own models from inherited ones. Importing it loads no runtime.

Threads do not come along at fork(): a runtime's pool is gone in the child, and a model that computes with it would
wait for ever.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from latenn._errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

_count = 0
_in_child: list[Callable[[], object]] = []


def count() -> int:
    """How many forks lie between the first process and this one."""
    return _count


def in_child(tell: Callable[[], object]) -> None:
    """Have `tell` called in every forked child, before those that were given earlier."""
    _in_child.insert(0, tell)


def refusal() -> UnsupportedError:
    """The error for a model that was loaded before the fork."""
    return UnsupportedError(
        "the model was loaded before this process was forked, and the runtime's threads did not come along. "
        'Load it again in this process, load it with options={"intra_op_num_threads": 1}, or start processes with '
        "the method spawn."
    )


def _count_fork() -> None:
    global _count  # noqa: PLW0603  # the process has one such number
    _count += 1
    for tell in _in_child:
        tell()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


class Lock:
    """A reentrant lock that no thread of the parent holds in a child."""

    def __init__(self) -> None:
        self._lock, self._forks = threading.RLock(), _count

    def __enter__(self) -> None:
        if self._forks != _count:
            self._lock, self._forks = threading.RLock(), _count
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

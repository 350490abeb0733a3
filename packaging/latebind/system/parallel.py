"""Runs independent pieces of work at once; the first failure or an interruption ends them all."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeVar

from latebind.backend.notes import duration
from latebind.system.run import all_ended

_WORKER = threading.local()
_In = TypeVar("_In")
_Out = TypeVar("_Out")
_LONGEST = 2


def each(
    work: Callable[[_In], _Out], items: Iterable[_In], *, jobs: int = 0, finished: Callable[[], None] = lambda: None
) -> list[_Out]:
    """What `work` returns for each item, in the items' order. `jobs` run at once, by default the CPU count.

    `finished` is called after each.

    The work waits for processes that `run` started. When one piece raises, those that have not begun are dropped, the
    processes of the others are ended, and the exception is passed on. Work that is itself a piece of such work lets the
    others end: processes are ended for all, and the failures that this causes would come before its own.
    """
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1, initializer=_enter_worker) as pool:
        tasks = [pool.submit(work, item) for item in items]
        for task in tasks:
            task.add_done_callback(lambda _: finished())
        try:
            done, _ = wait(tasks, return_when=FIRST_EXCEPTION)
            failed = [task for task in tasks if task in done and task.exception() is not None]
            return [task.result() for task in failed or tasks]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            if getattr(_WORKER, "entered", False):
                raise
            with all_ended():
                pool.shutdown()
            raise


def _enter_worker() -> None:
    _WORKER.entered = True


@dataclass(slots=True)
class Running:
    """The pieces of work that run, and since when. Its methods may be called from several threads."""

    started: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Count a piece among those that run."""
        self.started[name] = time.monotonic()
        try:
            yield
        finally:
            del self.started[name]

    def describe(self) -> str:
        """`(wheel/linux-x64/python3.11/onnxruntime-1.32.0/works for 9 min 30 s)`: those that run longest."""
        longest = sorted(self.started.copy().items(), key=itemgetter(1))[:_LONGEST]
        times = [f"{name} for {duration(time.monotonic() - started)}" for name, started in longest]
        return f"({'; '.join(times)})" if times else ""

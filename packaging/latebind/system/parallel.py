"""Runs independent pieces of work at once; the first failure or an interruption ends them all."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import TypeVar

from latebind.system.run import all_ended

_WORKER = threading.local()
_In = TypeVar("_In")
_Out = TypeVar("_Out")


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

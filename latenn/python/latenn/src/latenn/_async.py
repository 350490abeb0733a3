"""Runs in the background: a future that other threads wait for and that coroutines await."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from latenn import _forks

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from numpy.typing import NDArray

    Outputs = dict[str, NDArray[Any]]

_THREADS = max(2, os.cpu_count() or 1)
_pools: list[ThreadPoolExecutor] = []
_forks.in_child(_pools.clear)  # its threads did not come along


class RunFuture(Future["Outputs"]):
    """A run that is under way. `await` it in a coroutine; elsewhere `result()` waits.

    A `concurrent.futures.Future`, since models are as often run without an event loop as with one, and any loop or
    thread can wait for it.
    """

    def __await__(self) -> Generator[Any, None, Outputs]:
        """Wait in the running event loop, which goes on with other work."""
        return asyncio.wrap_future(self).__await__()


def submit(run: Callable[..., Outputs], *arguments: Any) -> RunFuture:
    """Start a run on a thread of the package's own; all models share them."""
    future = RunFuture()
    _pool().submit(_work, future, run, arguments)
    return future


def _pool() -> ThreadPoolExecutor:
    if not _pools:
        _pools.append(ThreadPoolExecutor(_THREADS, thread_name_prefix="latenn"))
    return _pools[0]


def _work(future: RunFuture, run: Callable[..., Outputs], arguments: tuple[Any, ...]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(run(*arguments))
    except BaseException as error:  # noqa: BLE001  # anyone who waits is to see it
        future.set_exception(error)

"""Worker processes with limits of time and memory; knows nothing of audits, starts no other program.

A parser in native code can crash or hang on a hostile file. Each worker does one piece of work at a time and tells
which part it is about to touch; when it dies or runs past a limit, the work ends as a Died that names that part.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, SpawnContext

Task = TypeVar("Task")
Result = TypeVar("Result")

_GRACE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one worker may use. `seconds` count from the last sign of life."""

    seconds: float = 60.0
    memory: int = 8 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    """Work that did not end. `part` is what the worker touched last."""

    part: str
    how: str


@dataclass(slots=True)
class _Worker(Generic[Task]):
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    index: int = -1
    part: str = ""
    deadline: float = 0.0


class Pool(Generic[Task, Result]):
    """Runs `work(task, tell)` in worker processes. `work` must be importable by name; `tell(part)` marks progress."""

    def __init__(self, work: Callable[[Task, Callable[[str], None]], Result], jobs: int, limits: Limits) -> None:
        self._work = work
        self._jobs = max(jobs, 1)
        self._limits = limits
        self._workers: list[_Worker[Task]] = []
        self._context = _context()

    @property
    def is_forking(self) -> bool:
        """Whether workers begin with all that this process has loaded."""
        return self._context.get_start_method() == "fork"

    def __enter__(self) -> Pool[Task, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            self._end(worker)
        self._workers.clear()

    def run(self, tasks: Sequence[Task]) -> list[Result | Died]:
        """Do all tasks; the results stand in the order of the tasks."""
        results: dict[int, Result | Died] = {}
        waiting = deque(enumerate(tasks))
        while len(results) < len(tasks):
            self._hand_out(waiting)
            busy = [worker for worker in self._workers if worker.index >= 0]
            patience = max(min(worker.deadline for worker in busy) - time.monotonic(), 0.0)
            ready = set(wait([worker.pipe for worker in busy], timeout=patience))
            for worker in busy:
                if worker.pipe in ready:
                    self._receive(worker, results)
                elif time.monotonic() > worker.deadline:
                    how = f"ran past its limit of {self._limits.seconds:g} s"
                    results[worker.index] = Died(part=worker.part, how=how)
                    self._replace(worker)
        return [results[index] for index in range(len(tasks))]

    def _hand_out(self, waiting: deque[tuple[int, Task]]) -> None:
        while waiting:
            worker = next((worker for worker in self._workers if worker.index < 0), None)
            if worker is None and len(self._workers) < self._jobs:
                worker = self._start()
            if worker is None:
                return
            index, task = waiting.popleft()
            worker.index, worker.part = index, ""
            worker.deadline = time.monotonic() + self._limits.seconds + _GRACE  # the start itself takes its time
            with contextlib.suppress(OSError):  # a worker that died idle is seen by its closed pipe
                worker.pipe.send(task)

    def _receive(self, worker: _Worker[Task], results: dict[int, Result | Died]) -> None:
        try:
            kind, value = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join(_GRACE)
            results[worker.index] = Died(part=worker.part, how=_how(worker.process.exitcode))
            self._replace(worker)
            return
        if kind == "part":
            worker.part = value
            worker.deadline = time.monotonic() + self._limits.seconds
            return
        results[worker.index] = value if kind == "done" else Died(part=worker.part, how=value)
        worker.index = -1

    def _start(self) -> _Worker[Task]:
        ours, theirs = self._context.Pipe()
        # A fork has all our ends of the pipes; while it holds one, no worker sees that we are gone.
        inherited = [ours, *(worker.pipe for worker in self._workers)] if self.is_forking else []
        process = self._context.Process(target=_serve, args=(theirs, inherited, self._work, self._limits), daemon=True)
        process.start()
        theirs.close()
        worker: _Worker[Task] = _Worker(process, ours)
        self._workers.append(worker)
        return worker

    def _replace(self, worker: _Worker[Task]) -> None:
        self._end(worker)
        self._workers.remove(worker)

    @staticmethod
    def _end(worker: _Worker[Task]) -> None:
        worker.pipe.close()
        worker.process.kill()
        worker.process.join(_GRACE)


def _serve(
    pipe: Connection,
    inherited: Sequence[Connection],
    work: Callable[[Task, Callable[[str], None]], Result],
    limits: Limits,
) -> None:
    """The worker's life: take a task, do it, answer, until the other end closes."""
    for connection in inherited:
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _limit_memory(limits.memory)
    gc.disable()  # work makes many objects and no circles to speak of: looking for them while it runs costs time alone

    def tell(part: str) -> None:
        pipe.send(("part", part))

    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[str, object] = ("done", work(task, tell))
        except MemoryError:
            answer = ("failed", f"ran out of its {limits.memory >> 20} MB of memory")
        except Exception as error:  # noqa: BLE001  # a defect in a check must not end the whole audit
            answer = ("failed", f"failed inside latebind with {type(error).__name__}: {error}")
        try:
            pipe.send(answer)
        except OSError:
            return
        del task, answer
        gc.collect()


def _limit_memory(size: int) -> None:
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415  # not on Windows

    # A crash on a hostile file must not fill the disk; a limit that is stricter already stays.
    for what, limit in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, size)):
        with contextlib.suppress(ValueError, OSError):
            _, hard = resource.getrlimit(what)
            resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _how(status: int | None) -> str:
    if status is not None and status < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"


def _context() -> SpawnContext | ForkContext:
    """A fork of a process with one thread is safe and takes milliseconds; any other worker must start afresh."""
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def default_jobs() -> int:
    """One worker per processor that this process may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(count, 1)

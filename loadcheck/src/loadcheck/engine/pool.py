"""Runs tasks in worker processes with limits on CPU time and memory.

A parser in native code can crash or hang on a hostile file. Each worker runs one task at a time and reports which part
it is about to touch. If it crashes or exceeds a limit, the task ends as a Died that names that part.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import re
import signal
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Generic, TypeVar

from loadcheck.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkContext, SpawnContext

Task = TypeVar("Task")
Result = TypeVar("Result")

_GRACE = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerLimits:
    """What one worker may use. Both times count from its last report."""

    seconds: float = 60.0
    """CPU time, which a busy machine does not use up; on Windows there is only `wall`."""
    wall: float = 600.0
    """For a reader that waits instead of computing."""
    memory: int = 8 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    """A task whose worker died. `part` is what the worker touched last."""

    part: str
    how: str


_SLOW = re.compile(r"exceeded its limit of \S+ s( of CPU time)?")


def is_slow(how: str) -> bool:
    """Whether a worker only took too long, so that its task is not finished."""
    return _SLOW.fullmatch(how) is not None


@dataclass(slots=True)
class _Worker(Generic[Task]):
    process: multiprocessing.process.BaseProcess
    pipe: Connection
    index: int = -1
    part: str = ""
    deadline: float = 0.0


class Pool(Generic[Task, Result]):
    """Runs `work(task, report)` in worker processes. `work` must be importable; `report(part)` marks progress."""

    def __init__(self, work: Callable[[Task, Callable[[str], None]], Result], jobs: int, limits: WorkerLimits) -> None:
        self._work = work
        self._jobs = max(jobs, 1)
        self._limits = limits
        self._workers: list[_Worker[Task]] = []
        self._context = _context()

    @property
    def is_forking(self) -> bool:
        """Whether workers start with the modules that this process has loaded."""
        return self._context.get_start_method() == "fork"

    def __enter__(self) -> Pool[Task, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            self._end(worker)
        self._workers.clear()

    def run(self, tasks: Sequence[Task]) -> list[Result | Died]:
        """Run all tasks; the results are in the order of the tasks."""
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
                    how = f"exceeded its limit of {self._limits.wall:g} s"
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
            worker.deadline = time.monotonic() + self._limits.wall + _GRACE  # starting takes time
            with contextlib.suppress(OSError):  # _receive notices a worker that died idle by its closed pipe
                worker.pipe.send(task)

    def _receive(self, worker: _Worker[Task], results: dict[int, Result | Died]) -> None:
        try:
            kind, value = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join(_GRACE)
            results[worker.index] = Died(part=worker.part, how=_how(worker.process.exitcode, self._limits))
            self._replace(worker)
            return
        if kind == "part":
            worker.part = value
            worker.deadline = time.monotonic() + self._limits.wall
            return
        results[worker.index] = value if kind == "done" else Died(part=worker.part, how=value)
        worker.index = -1

    def _start(self) -> _Worker[Task]:
        ours, theirs = self._context.Pipe()
        # A fork inherits our ends of the pipes, and a worker ends only when all of them are closed.
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
    limits: WorkerLimits,
) -> None:
    """Receive tasks, run them and send the results, until the other end closes."""
    for connection in inherited:
        connection.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    _limit_memory(limits.memory)
    # Tasks make many objects and few cycles: collecting while they run only costs time. What is loaded by now stays.
    gc.disable()
    gc.freeze()

    def report(part: str) -> None:
        _limit_time(limits.seconds)
        pipe.send(("part", part))

    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        _limit_time(limits.seconds)
        try:
            answer: tuple[str, object] = ("done", work(task, report))
        except MemoryError:
            answer = ("failed", f"exceeded its limit of {limits.memory >> 20} MiB of memory")
        except UserError as error:
            answer = ("failed", f"stopped: {error.message}")
        except Exception as error:  # noqa: BLE001  # a bug in one check must not end the whole audit
            answer = ("failed", f"failed with a bug in loadcheck: {type(error).__name__}: {error}")
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

    # A crash on a hostile file must not fill the disk with a core dump. Stricter limits stay as they are.
    for what, limit in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_AS, size)):
        with contextlib.suppress(ValueError, OSError):
            _, hard = resource.getrlimit(what)
            resource.setrlimit(what, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))


def _limit_time(seconds: float) -> None:
    """End this process after that much more CPU time, by SIGPROF, which also works in native code."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _how(status: int | None, limits: WorkerLimits) -> str:
    if sys.platform != "win32" and status == -signal.SIGPROF:
        return f"exceeded its limit of {limits.seconds:g} s of CPU time"
    if status is not None and status < 0:
        with contextlib.suppress(ValueError):
            return f"was killed by {signal.Signals(-status).name}"
    return f"exited with status {status}"


def _context() -> SpawnContext | ForkContext:
    """Fork on Linux, which takes milliseconds and is safe in a process with one thread; spawn anywhere else."""
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")


def default_jobs() -> int:
    """The number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

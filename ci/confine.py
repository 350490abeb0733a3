"""Runs a program with limits on time, memory and processes, and ends all that it started; must not know what it runs.

Every process of a run carries a mark in its environment, so that those that left its group (wineserver does) are
found and ended, too, and nobody else's ever are. Linux only: it reads /proc.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import tempfile
import time
import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MARK = "CONFINED_BY"
_GIB = 1024**3
_LOOK_SECONDS = 0.2
_ASKS, _ASK_SECONDS = 20, 0.001
_KEPT: list[int] = []


class LimitError(Exception):
    """A run went over a limit and was ended; the message says over which. `output` is its output."""

    output: bytes = b""


@dataclass(frozen=True)
class Limits:
    """What one run may take. `memory` is of all its processes together, resident; `addresses` of each alone."""

    seconds: float = 120.0
    memory: int = 4 * _GIB
    addresses: int = 24 * _GIB
    processes: int = 48


class Machine(ABC):
    """Something that runs programs of another kind of system, by a command before theirs. Close it when done."""

    group: Group

    @abstractmethod
    def command(
        self, program: Path, words: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """The whole command that runs a program with `env`, and the environment that the command itself gets."""

    def run(
        self,
        program: Path,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        feed: bytes = b"",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program to its end. Raises LimitError."""
        command, environment = self.command(program, words, env or {})
        return self.group.run(command, environment, cwd=cwd, feed=feed)

    def close(self) -> None:
        """End all that still runs because of us."""
        self.group.close()


class Group:
    """The processes of one or more runs, by their mark. Close it, and they are gone."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._mark = uuid.uuid4().hex

    def run(
        self, command: Sequence[str | Path], env: Mapping[str, str], *, cwd: Path | None = None, feed: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end. Its input is `feed`, or nothing.

        What lives on behind it keeps its pipes open and is not waited for.
        Raises LimitError when it goes over a limit; everything of this group is ended then.
        """
        with contextlib.ExitStack() as opened:
            out, err = opened.enter_context(_Pipe()), opened.enter_context(_Pipe())
            child = subprocess.Popen(
                [os.fspath(word) for word in command],
                env={**env, MARK: self._mark},
                cwd=cwd,
                stdin=_input(feed, opened),
                stdout=out.theirs,
                stderr=err.theirs,
                start_new_session=True,
                preexec_fn=self._limit,  # noqa: PLW1509  # it only sets limits
            )
            try:
                self._watch(child, (out, err))
            except BaseException as error:
                self.close()
                child.wait()
                if isinstance(error, LimitError):
                    error.output = bytes(out.data + err.data)
                raise
            return subprocess.CompletedProcess(child.args, child.returncode, bytes(out.data), bytes(err.data))

    def members(self) -> list[int]:
        """The process ids of what is alive of this group."""
        wanted = f"{MARK}={self._mark}".encode()
        return [pid for pid in _processes() if wanted in _environment(pid)]

    def close(self) -> None:
        """End all that is alive of this group; what starts meanwhile, too."""
        for _ in range(50):
            alive = self.members()
            if not alive:
                return
            for pid in alive:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    def guard(self) -> None:
        """End all of this group also when this very process is killed. For a program's main() alone: it forks.

        Locks that this process holds stay held until the group is gone.
        """
        ours, theirs = os.pipe()
        if os.fork():
            os.close(ours)
            _KEPT.append(theirs)  # open until this process ends, in whatever way
            return
        os.setsid()
        os.close(theirs)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):  # anyone who reads our output must not wait for this one
            os.dup2(nothing, standard)
        os.read(ours, 1)
        self.close()
        os._exit(0)

    def _limit(self) -> None:
        for what, value in ((resource.RLIMIT_AS, self.limits.addresses), (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(what, (value, value))

    def _watch(self, child: subprocess.Popen[bytes], pipes: Sequence[_Pipe]) -> None:
        end = time.monotonic() + self.limits.seconds
        look = 0.0
        ended = os.pidfd_open(child.pid)
        try:
            while True:
                waiting = [ended, *(pipe.ours for pipe in pipes)]
                ready, _, _ = select.select(waiting, [], [], _LOOK_SECONDS)
                for pipe in pipes:
                    pipe.read()  # after the end, too: the output is complete by then
                if ended in ready:
                    child.wait()
                    return
                if time.monotonic() >= look:
                    self._check(child, end)
                    look = time.monotonic() + _LOOK_SECONDS
        finally:
            os.close(ended)

    def _check(self, child: subprocess.Popen[bytes], end: float) -> None:
        alive = self.members()
        memory = sum(_resident(pid) for pid in alive)
        if time.monotonic() > end:
            raise LimitError(f"over {self.limits.seconds:g} seconds: {child.args!r}")
        if len(alive) > self.limits.processes:
            raise LimitError(f"over {self.limits.processes} processes: {child.args!r}")
        if memory > self.limits.memory:
            raise LimitError(f"over {self.limits.memory // 1024**2} MiB of memory: {child.args!r}")


class _Pipe:
    """What a program says. A pipe, because wine 8 cannot tell a Python about an output that is a file."""

    def __init__(self) -> None:
        self.ours, self.theirs = os.pipe()  # both stay open until the end, so that reading never meets an end
        os.set_blocking(self.ours, False)
        self.data = bytearray()

    def __enter__(self) -> _Pipe:  # noqa: PYI034  # Self is of Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.ours)
        os.close(self.theirs)

    def read(self) -> None:
        """Take what is there."""
        with contextlib.suppress(BlockingIOError):
            while chunk := os.read(self.ours, 1 << 16):
                self.data += chunk


def _input(feed: bytes, opened: contextlib.ExitStack) -> int:
    if not feed:
        return subprocess.DEVNULL
    stdin: IO[bytes] = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # `opened` closes it
    stdin.write(feed)
    stdin.seek(0)
    return stdin.fileno()


def _processes() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())  # noqa: PTH208  # names are all it needs


def _environment(pid: int) -> bytes:
    """What a process was started with.

    Between exec() and the program's start the kernel shows none: a process with memory, but without that, is asked
    again. Kernel threads and what has ended have no memory.
    """
    with contextlib.suppress(OSError):
        for _ in range(_ASKS):
            found = Path(f"/proc/{pid}/environ").read_bytes()
            if found or not _pages(pid):
                return found
            time.sleep(_ASK_SECONDS)
    return b""


def _resident(pid: int) -> int:
    return _pages(pid, 1) * resource.getpagesize()


def _pages(pid: int, column: int = 0) -> int:
    """Pages of memory: all (column 0), or those that are resident (1)."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[column])
    return 0

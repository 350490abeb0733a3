"""Runs programs of another kind of system with limits on time, memory and processes, and ends all that they started.

Every process of a run carries latebind's mark of a tree in its environment (latebind.system.processes), so that those
that left its group (wineserver does) are found and ended, too, and nobody else's ever are. Linux only: it reads /proc.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from latebind.system.processes import TREE, end_trees, extend_mark, list_marked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_GIB = 1024**3
_LOOK_SECONDS = 0.2


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


class Group:
    """The processes of one or more runs, by their mark. Close it, and they are gone."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.mark = extend_mark(os.environ.get(TREE, ""))

    def run(
        self, command: Sequence[str | Path], env: Mapping[str, str], *, cwd: Path | None = None, feed: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command to its end. Its input is `feed`, or nothing.

        What lives on behind it keeps its pipes open and is not waited for.
        Raises LimitError when it goes over a limit; everything of this group is ended then.
        """
        with contextlib.ExitStack() as stack:
            out, err = stack.enter_context(_Pipe()), stack.enter_context(_Pipe())
            child = subprocess.Popen(
                [os.fspath(argument) for argument in command],
                env={**env, TREE: self.mark},
                cwd=cwd,
                stdin=_input(feed, stack),
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
        return [pid for pid, mark in list_marked() if f"{mark}/".startswith(f"{self.mark}/")]

    def close(self) -> None:
        """End all that is alive of this group; what starts meanwhile, too."""
        end_trees([self.mark])

    def _limit(self) -> None:
        for what, value in ((resource.RLIMIT_AS, self.limits.addresses), (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(what, (value, value))

    def _watch(self, child: subprocess.Popen[bytes], pipes: Sequence[_Pipe]) -> None:
        end = time.monotonic() + self.limits.seconds
        look = 0.0
        ended = os.pidfd_open(child.pid)
        try:
            while True:
                ready, _, _ = select.select([ended, *(pipe.ours for pipe in pipes)], [], [], _LOOK_SECONDS)
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
        memory = sum(map(_measure_memory, alive))
        if time.monotonic() > end:
            raise LimitError(f"over {self.limits.seconds:g} seconds: {child.args!r}")
        if len(alive) > self.limits.processes:
            raise LimitError(f"over {self.limits.processes} processes: {child.args!r}")
        if memory > self.limits.memory:
            raise LimitError(f"over {self.limits.memory // 1024**2} MiB of memory: {child.args!r}")


@dataclass
class Emulator(ABC):
    """Something that runs programs of another kind of system, by a command before theirs. Close it when done."""

    group: Group

    @abstractmethod
    def command(
        self, program: Path, arguments: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """The whole command that runs a program with `env`, and the environment that the command itself gets."""

    def run(
        self,
        program: Path,
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        feed: bytes = b"",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program to its end. Raises LimitError."""
        command, environment = self.command(program, arguments, env or {})
        return self.group.run(command, environment, cwd=cwd, feed=feed)

    def close(self) -> None:
        """End all that still runs because of us."""
        self.group.close()


def inherit(*names: str) -> dict[str, str]:
    """Those of this process's variables."""
    return {name: os.environ[name] for name in names if name in os.environ}


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


def _input(feed: bytes, stack: contextlib.ExitStack) -> int:
    if not feed:
        return subprocess.DEVNULL
    stdin: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115  # the stack closes it
    stdin.write(feed)
    stdin.seek(0)
    return stdin.fileno()


def _measure_memory(pid: int) -> int:
    """Resident bytes of a process; 0 for one that has ended."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * resource.getpagesize()
    return 0

"""Writes progress and notes to stderr: live lines on a terminal, plain lines in a pipe or a CI log."""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from latebind.text import printable_lines

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

Level = Literal["quiet", "normal", "verbose"]

HEARTBEAT_SECONDS = 30.0
"""How often plain output says what is still running; CI systems end jobs that print nothing for long."""
_MINUTE, _EXACT = 60, 10


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `2 min 5 s`."""
    if seconds < _EXACT:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


@dataclass(slots=True)
class _Step:
    """A piece of work that runs, and how far it has come: `[12/235]`."""

    running: str
    started: float
    describe: Callable[[], str]
    """What else is known of it now."""
    total: int = 0
    """How many pieces it has; 0 where they are not counted."""
    finished: int = 0
    progress: str = ""
    task: TaskID | None = None
    """Its live line."""

    @property
    def text(self) -> str:
        count = f"[{self.finished}/{self.total}]" if self.total else self.progress
        return f"{self.running} {count}".rstrip()


class Log:
    """Progress and notes of one process. Its methods may be called from several threads."""

    def __init__(self, level: Level = "normal", heartbeat: float = HEARTBEAT_SECONDS) -> None:
        self.level: Level = level
        self.heartbeat = heartbeat
        self._lock = threading.RLock()
        self._running: dict[int, _Step] = {}
        self._of_thread = threading.local()
        self._idle = threading.Event()
        self._live: Progress | None = None

    @property
    def on_terminal(self) -> bool:
        """Whether stderr is a terminal on which lines can be redrawn."""
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def say(self, text: str) -> None:
        """Write a line in every run that is not `--quiet`."""
        if self.level != "quiet":
            self._write(text)

    def detail(self, text: str) -> None:
        """Write a line with `--verbose`."""
        if self.level == "verbose":
            self._write(text)

    def progress(self, text: str) -> None:
        """Say how far the step has come that this thread is in; nothing where it is in none."""
        step: _Step | None = getattr(self._of_thread, "step", None)
        if step is None:
            return
        with self._lock:
            step.progress = text
            self._redraw(step)

    @contextmanager
    def step(
        self, running: str, done: str = "", describe: Callable[[], str] = str, total: int = 0
    ) -> Iterator[Callable[[], None]]:
        """Report a piece of work: `running` while it runs ("building linux-x64"), `done` with its time at the end.

        On a terminal a running step is a live line with its elapsed time. Elsewhere it is a line at the start and one
        at the end (neither without `done`), with a line every `heartbeat` seconds that names all running steps, with
        what `describe` says. With a `total`, what this yields is called when one of so many pieces is finished; a
        single piece without `done` reports itself.
        """
        started = time.monotonic()
        step = _Step(running, started, describe, total)
        if self.level == "quiet" or (total == 1 and not done):
            yield lambda: None
            return
        with self._show_step(step, is_announced=bool(done)):
            try:
                yield lambda: self._finish_piece(step)
            except BaseException:
                if done:
                    self._write(f"stopped {running} after {duration(time.monotonic() - started)}")
                raise
            if done:
                self._write(f"{done} in {duration(time.monotonic() - started)}")

    def _finish_piece(self, step: _Step) -> None:
        with self._lock:
            step.finished += 1
            self._redraw(step)

    def _redraw(self, step: _Step) -> None:
        if self._live is not None and step.task is not None:
            self._live.update(step.task, description=step.text)

    @contextmanager
    def _show_step(self, step: _Step, *, is_announced: bool) -> Iterator[None]:
        with self._lock:
            if not self._running:
                self._start()
            if self._live is not None:
                step.task = self._live.add_task(step.text, total=None)
            elif is_announced:
                self._write(f"{step.running} …")
            self._running[id(step)] = step
        outer, self._of_thread.step = getattr(self._of_thread, "step", None), step
        try:
            yield
        finally:
            self._of_thread.step = outer
            with self._lock:
                del self._running[id(step)]
                if self._live is not None and step.task is not None:
                    self._live.remove_task(step.task)
                if not self._running:
                    self._stop()

    def _start(self) -> None:
        """Begin to show that something is running: live lines where they can be redrawn, else heartbeats."""
        if self.on_terminal and importlib.util.find_spec("rich") is not None:
            self._live = _live_lines()
            self._live.start()
            return
        self._idle = threading.Event()
        threading.Thread(target=self._beat, args=[self._idle], name="heartbeat", daemon=True).start()

    def _stop(self) -> None:
        self._idle.set()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _beat(self, idle: threading.Event) -> None:
        while not idle.wait(self.heartbeat):
            with self._lock:
                now = time.monotonic()
                steps = [
                    f"{step.text} ({duration(now - step.started)}) {step.describe()}".rstrip()
                    for step in self._running.values()
                ]
                if steps:
                    self._write(f"still {', '.join(steps)}")

    def _write(self, text: str) -> None:
        text = printable_lines(text)
        with self._lock:
            if self._live is not None:
                self._live.console.print(text, markup=False, highlight=False, soft_wrap=True)
                return
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()


def _live_lines() -> Progress:
    from rich.console import Console  # noqa: PLC0415  # a build from an sdist has no rich
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    # The time before the text, whose end a narrow terminal leaves out.
    columns = (SpinnerColumn(), TimeElapsedColumn(), TextColumn("{task.description}", markup=False))
    return Progress(
        *columns, console=Console(stderr=True), transient=True, redirect_stdout=False, redirect_stderr=False
    )


LOG = Log()
"""The process's log; the command line sets its level."""

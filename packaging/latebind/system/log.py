"""What a user sees while latebind works: groups, progress and notes on stderr; never results, which go to stdout."""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator

Level = Literal["quiet", "normal", "verbose"]

_WORTH_TELLING = 2.0


class Log:
    """Writes progress to stderr; knows terminals, NO_COLOR and the folding marks of GitHub Actions."""

    def __init__(self, level: Level = "normal") -> None:
        self.level: Level = level
        self._lock = threading.Lock()

    @property
    def on_terminal(self) -> bool:
        """Whether stderr is a terminal that redraws lines."""
        return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def in_actions(self) -> bool:
        """Whether this runs inside GitHub Actions, whose log folds `::group::`."""
        return os.environ.get("GITHUB_ACTIONS") == "true"

    def say(self, text: str) -> None:
        """A line that a user wants in an ordinary run."""
        if self.level != "quiet":
            self._write(f"{text}\n")

    def progress(self, text: str) -> None:
        """A line that tells that something goes on; only where somebody watches, or asked for more."""
        if self.level == "verbose" or (self.level == "normal" and (self.on_terminal or self.in_actions)):
            self._write(f"{text}\n")

    def detail(self, text: str) -> None:
        """A line for `--verbose`."""
        if self.level == "verbose":
            self._write(f"{text}\n")

    @contextmanager
    def step(self, title: str) -> Iterator[None]:
        """Name a piece of work; say how long it took when that was over two seconds."""
        started = time.monotonic()
        if self.in_actions:
            self.progress(f"::group::{title}")
        else:
            self.progress(f"{title} ...")
        try:
            yield
        finally:
            seconds = time.monotonic() - started
            if self.in_actions:
                self.progress("::endgroup::")
            if seconds > _WORTH_TELLING:
                self.progress(f"{title}: {seconds:.1f} s")

    def _write(self, text: str) -> None:
        with self._lock:
            sys.stderr.write(text)
            sys.stderr.flush()


LOG = Log()
"""The process's log; the command line sets its level."""

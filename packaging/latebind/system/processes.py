"""Finds and ends everything that a process started, in any group or session; also a program that watches a process.

Compilers leave the group of the tool that started them (ninja gives each a group), and daemons their parent. All of
them keep their environment, though: each start extends the variable TREE, so a value names a process and all its
descendants.

Run as a program, it waits for its standard input to end and then ends a tree: a killed process cannot do so itself.
This file imports nothing of latebind, so that the program starts quickly.
"""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

TREE = "LATEBIND_TREE"
"""The variable: marks joined by `/`, that of the first ancestor first."""
DISMISSED = b"."
"""What the watching program reads when there is nothing to end."""
_ROUNDS = 3
"""How many looks in a row must find nothing: a process that is being started has no mark of its own yet."""
_PAUSE, _LIMIT = 0.02, 30.0
_MEMORY, _ENVIRONMENT_END = 23 - 3, 51 - 3
"""Fields of /proc/PID/stat, which begin to count after the name of the program, at the third."""
_LINE = re.compile(rf"^\s*(\d+)\s.*\b{TREE}=(\S*)", re.MULTILINE)


def extend_mark(parent_mark: str) -> str:
    """A new mark for a process that one with the mark `parent_mark` starts."""
    mark = secrets.token_hex(6)
    return f"{parent_mark}/{mark}" if parent_mark else mark


def end_trees(marks: Collection[str]) -> None:
    """End every process with one of those marks or below one, and return when they are gone.

    On Windows processes are held in a job, which ends them; there this does nothing.
    """
    quiet, end = 0, time.monotonic() + _LIMIT
    while marks and time.monotonic() < end:
        pids = [pid for pid, mark in list_marked() if pid != os.getpid() and _is_below(mark, marks)]
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
            except (ProcessLookupError, PermissionError):
                continue
        quiet = 0 if pids or _is_any_starting() else quiet + 1
        if quiet == _ROUNDS:
            return
        time.sleep(_PAUSE)


@contextmanager
def watched_over() -> Iterator[str]:
    """Within the block, all that this process starts ends with it, even when it is killed; yields the mark of all that.

    An interruption ends it as well.
    """
    parent_mark = os.environ.get(TREE, "")
    mark = extend_mark(parent_mark)
    watcher = None if sys.platform == "win32" else _watcher(mark)  # Windows' jobs end with their holder
    os.environ[TREE] = mark
    last = b""
    try:
        yield mark
        last = DISMISSED
    except Exception:
        last = DISMISSED
        raise
    finally:
        os.environ.pop(TREE)
        if parent_mark:
            os.environ[TREE] = parent_mark
        if watcher is not None:
            watcher.communicate(last)


def _watcher(mark: str) -> subprocess.Popen[bytes]:
    """A process in a session of its own that ends a tree when the other end of its standard input is gone."""
    return subprocess.Popen(
        [sys.executable, "-IS", __file__, mark],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def list_marked() -> Iterator[tuple[int, str]]:
    """Every process that has a mark, with it. Zombies have none."""
    if sys.platform == "linux":
        yield from _of_proc(Path("/proc"))
    elif sys.platform != "win32":
        yield from _of_ps(["/bin/ps", "-A", "-E", "-ww", "-o", "pid=,command="])


def _of_proc(folder: Path) -> Iterator[tuple[int, str]]:
    for name in os.listdir(folder):  # noqa: PTH208  # takes a third of the time, and this runs again and again
        if not name.isdigit():
            continue
        try:
            environment = (folder / name / "environ").read_bytes()
        except OSError:  # it has ended, or is another user's
            continue
        _, separator, rest = (b"\0" + environment).partition(f"\0{TREE}=".encode())
        if separator:
            yield int(name), rest.partition(b"\0")[0].decode("ascii", "replace")


def _is_any_starting() -> bool:
    """Whether a process of this user is in the middle of exec, when its environment cannot be read; Linux only."""
    return sys.platform == "linux" and any(map(_is_starting, Path("/proc").glob("[0-9]*")))


def _is_starting(process: Path) -> bool:
    """Whether a process has memory, and the end of its environment isn't known yet: fields 23 and 51 of proc(5)."""
    try:
        if (process / "environ").read_bytes():
            return False
        fields = (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return False
    return len(fields) > _ENVIRONMENT_END and fields[_MEMORY] != "0" and fields[_ENVIRONMENT_END] == "0"


def _of_ps(command: list[str]) -> Iterator[tuple[int, str]]:
    """What `ps` prints when it is asked for environments, which come after the command line."""
    printed = subprocess.run(command, capture_output=True, check=False, env={**os.environ, "LC_ALL": "C"}).stdout
    for pid, mark in _LINE.findall(printed.decode("utf-8", "replace")):
        yield int(pid), mark


def _is_below(mark: str, marks: Iterable[str]) -> bool:
    return any(f"{mark}/".startswith(f"{ancestor}/") for ancestor in marks)


def main(mark: str) -> None:
    """Wait until the process at the other end of standard input is gone; end its tree unless it was dismissed first."""
    for number in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])):
        signal.signal(number, signal.SIG_IGN)
    if sys.stdin.buffer.read(1) != DISMISSED:
        end_trees([mark])


if __name__ == "__main__":
    main(sys.argv[1])

"""Lets one latebind at a time use a working folder; clears away what killed ones left behind."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.system.log import LOG
from latebind.system.processes import end_trees, watched_over

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

HELD_VARIABLE = "LATEBIND_HELD"
"""Names the working folder that a process above this one has locked: build backends run below latebind."""
LOCK = Path("build", ".lock")
"""The file in a working folder that is locked; it stays there when the lock ends."""
_LEFTOVERS = (
    "stage/.*.part",
    "stage/.*.old",
    "dist/.*.part",
    "build/.pack-*",
    "build/.*-symbols-*",
    "build/managed/.managed-*",
)


@contextmanager
def exclusive(workdir: Path) -> Iterator[None]:
    """Hold the working folder; wait, and say so, while another latebind has it, or what a killed one left is ended."""
    if os.environ.get(HELD_VARIABLE) == str(workdir):
        yield
        return
    file = workdir / LOCK
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as stream:
        if not _locked(stream.fileno(), wait=False):
            LOG.say(f"waiting for another latebind in {workdir}")
            _locked(stream.fileno(), wait=True)
        try:
            with watched_over([stream.fileno()]) as mark:
                _end_earlier(stream, mark)
                _clear(workdir)
                os.environ[HELD_VARIABLE] = str(workdir)
                try:
                    yield
                finally:
                    del os.environ[HELD_VARIABLE]
        finally:
            _write(stream, "")


def _clear(workdir: Path) -> None:
    for pattern in _LEFTOVERS:
        for path in workdir.glob(pattern):
            _remove(path)


def _end_earlier(stream: BinaryIO, mark: str) -> None:
    """End what a holder of the lock left running that was killed together with what watched over it.

    The file holds the mark of the current holder; it is empty once the work has ended.
    """
    stream.seek(0)
    earlier = stream.read().decode("ascii", "replace").split()
    _write(stream, " ".join([*earlier, mark]))
    if earlier:
        end_trees(earlier)
        _write(stream, mark)


def _write(stream: BinaryIO, text: str) -> None:
    if sys.platform != "win32":  # whose locks are of ranges, and whose jobs leave nothing running
        stream.seek(0)
        stream.truncate()
        stream.write(text.encode())
        stream.flush()


def _locked(descriptor: int, *, wait: bool) -> bool:
    """Whether the lock was got. It ends with the descriptor, also when the process is killed."""
    try:
        if sys.platform == "win32":
            while True:
                try:
                    msvcrt.locking(descriptor, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
                except OSError:
                    if not wait:
                        return False
                else:
                    return True
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)

"""One latebind at a time in a working folder: others wait; what killed ones left behind is cleared away."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.log import LOG

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """Hold the working folder; wait, and say so, while another latebind has it."""
    if os.environ.get(HELD_VARIABLE) == str(workdir):
        yield
        return
    file = workdir / LOCK
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a+b") as stream:
        if not _locked(stream.fileno(), wait=False):
            LOG.say(f"waiting for another latebind in {workdir}")
            _locked(stream.fileno(), wait=True)
        for pattern in _LEFTOVERS:
            for path in workdir.glob(pattern):
                _remove(path)
        os.environ[HELD_VARIABLE] = str(workdir)
        try:
            yield
        finally:
            del os.environ[HELD_VARIABLE]


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

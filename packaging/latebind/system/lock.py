"""Lets one latebind at a time use a working folder; clears away what killed ones left behind."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from latebind.backend.files import write_text
from latebind.system.log import LOG
from latebind.system.processes import end_trees, watched_over

HELD_VARIABLE = "LATEBIND_HELD"
"""Names the working folder that a process above this one has locked: build backends run below latebind."""
LOCK = Path("build", ".lock")
"""The file in a working folder that is locked; it stays there when the lock ends."""
LIVE = Path("build", ".live")
"""Holds the mark of the processes that the lock's holder started; exists as long as the work goes on."""
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
    """Hold the working folder: wait, with a message, while another has it; end what a killed latebind left running."""
    from filelock import FileLock, Timeout  # noqa: PLC0415  # slow to import, and most commands lock nothing

    if os.environ.get(HELD_VARIABLE) == str(workdir):
        yield
        return
    (workdir / LOCK).parent.mkdir(parents=True, exist_ok=True)
    lock, live = FileLock(workdir / LOCK), workdir / LIVE
    try:
        lock.acquire(blocking=False)
    except Timeout:
        LOG.say(f"waiting for another latebind process in {workdir}")
        lock.acquire()
    try:
        with watched_over() as mark:
            end_trees(live.read_text("ascii", "replace").split() if live.exists() else [])
            write_text(live, mark)  # in place of a link, which a cloned repository may hold
            _clear(workdir)
            os.environ[HELD_VARIABLE] = str(workdir)
            try:
                yield
            finally:
                del os.environ[HELD_VARIABLE]
    finally:
        live.unlink(missing_ok=True)
        lock.release()


def _clear(workdir: Path) -> None:
    for path in (path for pattern in _LEFTOVERS for path in workdir.glob(pattern)):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

"""Makes what all workers of a run use."""

from __future__ import annotations

import fcntl
import shutil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def make_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """A folder that the first who asks for it fills; the others wait. One that failed is emptied and made again."""
    done = folder.with_suffix(".done")
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            done.touch()
    return folder

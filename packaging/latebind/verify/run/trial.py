"""Tries one cell in a folder of its own, and turns whatever comes of it into an outcome."""

from __future__ import annotations

import errno
import os
import shutil
from typing import TYPE_CHECKING

from latebind.errors import LatebindError, NotRun
from latebind.model import Outcome, State
from latebind.verify.run.access import unlock
from latebind.verify.run.runners import runner
from latebind.verify.run.stage import StageError

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.verify.run.bench import Bench

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NO_ROOM_WORDS = (*(os.strerror(number) for number in _NO_ROOM), "(os error 112)")  # Windows and uv


def tried(bench: Bench) -> Outcome:
    """The outcome of a cell; its folder stays when it failed.

    Raises OSError when the disk is full, which says nothing of the packages: all other cells would fail of it, too.
    """
    _remove(bench.work)
    bench.work.mkdir(parents=True)
    bench.log.unlink(missing_ok=True)
    try:
        outcome = runner(bench.cell)(bench)
    except NotRun as error:
        return Outcome(cell=bench.cell, state=State.NOT_RUN, reason=error.reason, summary=error.message)
    except LatebindError as error:
        _assert_room(bench, str(error))
        stage = error.stage if isinstance(error, StageError) else "prepare"
        return Outcome(cell=bench.cell, state=State.FAILED, reason=str(error), facts={"stage": stage})
    except OSError as error:  # a consumer may do anything to its folder
        if error.errno in _NO_ROOM:
            raise
        return Outcome(cell=bench.cell, state=State.FAILED, reason=f"{error.filename}: {error.strerror}",
                       facts={"stage": "load"})  # fmt: skip
    if outcome.state is not State.FAILED:
        _remove(bench.work)
    return outcome


def _assert_room(bench: Bench, words: str) -> None:
    """Raises OSError when that is what a program said on a full disk."""
    if any(text in words for text in _NO_ROOM_WORDS):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(bench.log))


def _remove(work: Path) -> None:
    if work.is_dir():
        unlock(work)
        shutil.rmtree(work, ignore_errors=True)

"""How far a package came before it failed: whether it was not installed, not loaded, or computed something else."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from latebind.errors import LatebindError, NotRun

if TYPE_CHECKING:
    from collections.abc import Iterator

Stage = Literal["prepare", "install", "load", "inference"]
"""prepare: not the packages failed but what a cell needs besides, such as the project's script for its data.
install: an installer, or `dotnet` while it restores and builds. load: nothing could be loaded, it came from a wrong
place, or the consumer died. inference: numbers are wrong, or too few cases were computed."""


class StageError(LatebindError):
    """What went wrong in a cell, with the stage that it went wrong at."""

    def __init__(self, stage: Stage, error: LatebindError) -> None:
        super().__init__(error.message, where=error.where, advice=error.advice)
        self.stage: Stage = stage


@contextmanager
def failing_at(stage: Stage) -> Iterator[None]:
    """What fails inside, fails at that stage, unless something further inside knew better.

    Raises StageError for any LatebindError but NotRun, which passes as it is.
    """
    try:
        yield
    except (NotRun, StageError):
        raise
    except LatebindError as error:
        raise StageError(stage, error) from error

"""Chooses how a model runs: as a builtin, with memory staged by ctypes, or only in the careful way."""

from __future__ import annotations

import atexit
import weakref
from typing import TYPE_CHECKING, Any

from latenn import _accelerator, _staging

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from latenn._runner import Runner

    Run = Callable[..., dict[str, NDArray[Any]]]


class Way:
    """A fast way: `run` takes what Model.run takes, `close` lets no run begin on it any more."""

    def __init__(self, run: Run, close: Callable[[Run], object]) -> None:
        self.run, self._close = run, close
        self.is_builtin = close is _accelerator.close

    def close(self) -> None:
        """Give back what idle runs hold."""
        self._close(self.run)


def way(runner: Runner) -> Way | None:
    """The fastest way that this Python and this model have."""
    if run := _accelerator.builtin(runner):
        found = Way(run, _accelerator.close)
    elif staged := _staging.run(runner):
        found = Way(staged, _staging.close)
    else:
        return None
    _open.add(found)
    return found


def told() -> str:
    """How models of plain numbers run, for reports."""
    why = _accelerator.reason()
    return f"not in use: {why}. Runs go through ctypes." if why else "in use"


_open: weakref.WeakSet[Way] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """What is still open ends before the runtime's own end: its threads are not to outlive what they work on."""
    for found in list(_open):
        found.close()

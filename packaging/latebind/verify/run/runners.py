"""Which function runs a cell: one for each kind of consumer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.verify.plan.scenarios import C_NUPKG
from latebind.verify.run.c import run_c_cell
from latebind.verify.run.dotnet import run_dotnet_cell
from latebind.verify.run.python import run_python_cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from latebind.model import Cell, Outcome
    from latebind.verify.run.bench import Bench


def runner(cell: Cell) -> Callable[[Bench], Outcome]:
    """The function that tries a cell. It raises NotRun, or LatebindError when something other than them failed."""
    if cell.kind == "wheel":
        return run_python_cell
    return run_c_cell if cell.consumer == C_NUPKG else run_dotnet_cell

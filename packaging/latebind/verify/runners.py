"""Which function runs a cell: one for each kind of consumer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.verify.c import run_c_cell
from latebind.verify.dotnet import run_dotnet_cell
from latebind.verify.python import run_python_cell
from latebind.verify.scenarios import C_NUPKG

if TYPE_CHECKING:
    from collections.abc import Callable

    from latebind.model import Cell, Outcome
    from latebind.verify.cell import Bench


def runner(cell: Cell) -> Callable[[Bench], Outcome]:
    """The function that tries a cell. It raises NotRun, or LatebindError when something other than them failed."""
    if cell.kind == "wheel":
        return run_python_cell
    return run_c_cell if cell.consumer == C_NUPKG else run_dotnet_cell

"""Builds latenn's C test programs, and latenn with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.building import ROOT, Programs, build_programs

if TYPE_CHECKING:
    from pathlib import Path

HERE = ROOT / "latenn" / "tests" / "c"


def build_latenn(parent: Path, sanitizers: str) -> Programs:
    """latenn in the folder `latenn` of the tree, the programs next to it."""
    return build_programs(parent, sanitizers, HERE)

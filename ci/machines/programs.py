"""Finds programs that some systems install with a version in their names; runs none."""

from __future__ import annotations

import shutil

_VERSIONS = ("", *(f"-{number}" for number in range(30, 13, -1)))


def find(*names: str) -> str | None:
    """The first of the programs that is on PATH, under its own name or with one of LLVM's versions (llvm-nm-14)."""
    return next(filter(None, (shutil.which(name + version) for name in names for version in _VERSIONS)), None)

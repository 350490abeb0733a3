"""The kinds of packages that have readers and checks of their own, each a folder of `kinds/`."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from types import ModuleType

KINDS = ("wheel", "nuget", "npm", "maven", "sdk")
"""In the order in which they are reported."""


@cache
def load_parts(part: Literal["reading", "checks"]) -> tuple[ModuleType, ...]:
    """The modules of that name, one of each kind."""
    return tuple(importlib.import_module(f"loadcheck.kinds.{kind}.{part}") for kind in KINDS)

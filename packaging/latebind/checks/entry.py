"""The checks of late binding, for loadcheck, which finds them by the entry point of this distribution."""

from __future__ import annotations

from latebind.checks import exports, runtime, twins
from latebind.registry import load_parts
from loadcheck.engine.registry import Check

CHECKS = tuple(
    value
    for module in (runtime, exports, twins, *load_parts("checks"))
    for value in vars(module).values()
    if isinstance(value, Check)
)

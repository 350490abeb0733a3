"""The checks of late binding, for loadcheck, which finds them by the entry point of this distribution."""

from __future__ import annotations

from latebind.checks import projects, runtime
from latebind.registry import load_parts
from loadcheck.api import Check

CHECKS = tuple(
    value
    for module in (runtime, projects, *load_parts("checks"))
    for value in vars(module).values()
    if isinstance(value, Check)
)

"""Collects the checks: latebind's own modules, and those that installed distributions provide by entry point."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from importlib.metadata import entry_points
from operator import eq
from types import ModuleType
from typing import TYPE_CHECKING

from latebind.audit.engine.registry import Check
from latebind.errors import LatebindError
from latebind.registry import load_parts
from latebind.text import DOCS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.metadata import EntryPoint

GROUP = "latebind.checks"
"""The entry point group of third-party checks. Each entry point names a module, or one check in it."""
OWN_PREFIX = "LB"
FAMILIES: Mapping[str, str] = {
    "LB1": "Linkage",
    "LB2": "Symbols",
    "LB3": "Platform tags and minimum versions",
    "LB4": "Layout",
    "LB5": "Metadata",
    "LB6": "Hygiene",
    "LB7": "Runtime identifiers",
    "LB8": "Execution providers",
    "LB9": "npm packages and JARs",
}


@cache
def own_checks() -> Mapping[str, Check]:
    """latebind's own checks by code, sorted."""
    by_code: dict[str, Check] = {}
    for module in _own_modules():
        for check in _list_checks(module):
            if check.code in by_code or check.code[:3] not in FAMILIES:
                raise AssertionError(check.code)
            by_code[check.code] = check
    return dict(sorted(by_code.items()))


@cache
def checks() -> Mapping[str, Check]:
    """All checks by code, sorted: latebind's own and those of installed distributions.

    Raises LatebindError, naming the distribution, for one whose checks cannot be loaded or whose codes clash.
    """
    by_code = dict(own_checks())
    for entry in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        for check in _load_checks(entry):
            if existing := by_code.get(check.code):
                raise LatebindError(
                    f"{check.origin} and {existing.origin or 'latebind'} both provide a check {check.code}",
                    advice=f"Uninstall one of them: python -m pip uninstall {check.origin}",
                )
            by_code[check.code] = check
    return dict(sorted(by_code.items()))


def _load_checks(entry: EntryPoint) -> Iterator[Check]:
    distribution = entry.dist.name if entry.dist is not None else entry.value
    try:
        loaded = entry.load()
    except Exception as error:
        raise LatebindError(
            f"the checks of {distribution} cannot be loaded: {type(error).__name__}: {error}",
            where=f"entry point {GROUP}: {entry.name} = {entry.value}",
            advice=f"Update or uninstall {distribution}: python -m pip uninstall {distribution}",
        ) from error
    for check in _list_checks(loaded):
        if check.code.startswith(OWN_PREFIX):
            raise LatebindError(
                f"{distribution} declares a check {check.code}, but codes with {OWN_PREFIX} are reserved for latebind",
                where=f"entry point {GROUP}: {entry.name} = {entry.value}",
                advice="Give its checks another prefix, such as ACME in ACME001.",
            )
        yield check.provided_by(distribution)


def _own_modules() -> Iterator[ModuleType]:
    """The modules with checks of latebind itself: those for several ecosystems, and those of each."""
    for module in (importlib.import_module("latebind.audit.checks"), *load_parts("checks")):
        names = [info.name for info in pkgutil.iter_modules(getattr(module, "__path__", ()))]
        yield from (importlib.import_module(f"{module.__name__}.{name}") for name in sorted(names))
        yield module


def _list_checks(holder: object) -> Iterator[Check]:
    """The checks of a module, or the one check that `holder` is."""
    values = vars(holder).values() if isinstance(holder, ModuleType) else (holder,)
    yield from dict.fromkeys(value for value in values if isinstance(value, Check))


def explain(code: str) -> Check:
    """The check with that code, in upper or lower case. Raises LatebindError, which names the nearest one."""
    by_code = checks()
    if code.upper() in by_code:
        return by_code[code.upper()]
    near = max(by_code, key=lambda name: sum(map(eq, name, code.upper())))  # the first with the most equal characters
    raise LatebindError(
        f"{code} is not a check",
        advice=f"Did you mean {near}, {by_code[near].title}? All checks: {DOCS}/checks/index.md.",
    )

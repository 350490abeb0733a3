"""Collects the checks: loadcheck's own modules, and those that installed distributions provide by entry point."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from importlib.metadata import entry_points
from operator import eq
from types import ModuleType
from typing import TYPE_CHECKING

import loadcheck
from loadcheck.engine.check import Check
from loadcheck.errors import UserError
from loadcheck.text import DOCS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.metadata import EntryPoint

GROUP = "loadcheck.checks"
"""The entry point group of further checks. Each entry point names a module, one check in it, or a tuple of checks."""
OWN_PREFIX = "LB"
_OWNERS = ("loadcheck", "latebind")
"""The distributions whose checks have that prefix."""
FAMILIES: Mapping[str, str] = {
    "LB1": "Linkage",
    "LB2": "Symbols",
    "LB3": "Platform tags and minimum versions",
    "LB4": "Layout",
    "LB5": "Metadata",
    "LB6": "Hygiene",
    "LB7": "Runtime identifiers",
    "LB8": "Plugins",
    "LB9": "npm packages and JARs",
}


@cache
def own_checks() -> Mapping[str, Check]:
    """loadcheck's own checks by code, sorted."""
    by_code: dict[str, Check] = {}
    for module in _own_modules():
        for check in _list_checks(module):
            if check.code in by_code:
                raise AssertionError(check.code)
            by_code[check.code] = check
    return dict(sorted(by_code.items()))


@cache
def checks() -> Mapping[str, Check]:
    """All checks by code, sorted: loadcheck's own and those of installed distributions.

    Raises UserError, naming the distribution, for one whose checks cannot be loaded or whose codes clash.
    """
    by_code = dict(own_checks())
    for entry in sorted(entry_points(group=GROUP), key=lambda point: (point.name, point.value)):
        for check in _load_checks(entry):
            if existing := by_code.get(check.code):
                raise UserError(
                    f"{check.origin} and {existing.origin or 'loadcheck'} both provide a check {check.code}",
                    advice=f"Uninstall one of them: python -m pip uninstall {check.origin}",
                )
            by_code[check.code] = check
    return dict(sorted(by_code.items()))


def _load_checks(entry: EntryPoint) -> Iterator[Check]:
    distribution = entry.dist.name if entry.dist is not None else entry.value
    try:
        loaded = entry.load()
    except Exception as error:
        raise UserError(
            f"the checks of {distribution} cannot be loaded: {type(error).__name__}: {error}",
            where=f"entry point {GROUP}: {entry.name} = {entry.value}",
            advice=f"Update or uninstall {distribution}: python -m pip uninstall {distribution}",
        ) from error
    for check in _list_checks(loaded):
        is_own = check.code.startswith(OWN_PREFIX)
        if is_own and distribution not in _OWNERS:
            raise UserError(
                f"{distribution} declares a check {check.code}, but codes with {OWN_PREFIX} are reserved for "
                "loadcheck and latebind",
                where=f"entry point {GROUP}: {entry.name} = {entry.value}",
                advice="Give its checks another prefix, such as ACME in ACME001.",
            )
        yield check if is_own else replace(check, origin=distribution)


def _own_modules() -> Iterator[ModuleType]:
    """The modules with checks of loadcheck itself: those for several kinds of packages, and those of each."""
    for info in pkgutil.walk_packages(loadcheck.__path__, f"{loadcheck.__name__}."):
        if ".checks" in info.name:
            yield importlib.import_module(info.name)


def _list_checks(holder: object) -> Iterator[Check]:
    """The checks of a module, of a tuple, or the one check that `holder` is."""
    values = vars(holder).values() if isinstance(holder, ModuleType) else holder
    several = values if isinstance(values, Iterable) else (values,)
    yield from dict.fromkeys(value for value in several if isinstance(value, Check))


def explain(code: str) -> Check:
    """The check with that code, in upper or lower case. Raises UserError, which names the nearest one."""
    by_code = checks()
    if code.upper() in by_code:
        return by_code[code.upper()]
    near = max(by_code, key=lambda name: sum(map(eq, name, code.upper())))  # the first with the most equal characters
    raise UserError(
        f"{code} is not a check",
        advice=f"Did you mean {near}, {by_code[near].title}? All checks: {DOCS}/checks/index.md.",
    )

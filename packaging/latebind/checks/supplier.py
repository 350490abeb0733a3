"""What the checks of late binding ask about the packages of a kind. Each ecosystem answers in its `checks.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from latebind.registry import collect
from loadcheck.api import Hit, comparable_version

if TYPE_CHECKING:
    from latebind.checks.policy import BindingPolicy
    from latebind.tables.presets import RuntimePreset
    from loadcheck import Kind
    from loadcheck.facts import Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplier:
    """How the packages of one kind supply a runtime, and require it."""

    kind: Kind
    list_packages: Callable[[RuntimePreset], tuple[str, ...]]
    """The packages of its ecosystem that supply a runtime, as their project is called."""
    find_problems: Callable[[Contents, BindingPolicy, RuntimePreset], Iterable[Hit]]
    """What is wrong with the requirements of a package on them."""


def judge_range(name: str, version: str, minimum: str, inner: str) -> Iterator[Hit]:
    """What is wrong with a dependency on a runtime whose version is an interval, as in NuGet and Maven."""
    text, stated = version.replace(" ", ""), f"{name} {version}"
    low, _, high = text.strip("[]()").partition(",")
    if text.startswith(("[", "(")) and (high or "," not in text):
        yield Hit(cause=f"cap {name}", inner=inner, message=f"pins or caps {name}: {version}", evidence=(stated,))
    elif minimum and comparable_version(low) != comparable_version(minimum):
        asked = f"{low} or newer" if low else "in any version"
        message = f"requires {name} {asked}, but the configured minimum is {minimum}"
        yield Hit(cause=f"minimum {name}", inner=inner, message=message, evidence=(stated, f"minimum: {minimum}"))


@cache
def suppliers() -> Mapping[Kind, Supplier]:
    """The suppliers by the kind of their packages."""
    return {supplier.kind: supplier for supplier in collect("checks", "SUPPLIERS")}


def list_suppliers(kind: Kind, runtime: RuntimePreset) -> tuple[str, ...]:
    """The packages of that kind that supply a runtime; those on PyPI for files of no ecosystem."""
    return suppliers().get(kind, suppliers()["wheel"]).list_packages(runtime)

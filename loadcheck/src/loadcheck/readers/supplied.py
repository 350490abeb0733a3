"""What the requirements of a package install, as far as it was read."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loadcheck.tables.rids import Platform

_LIBRARY = re.compile(r"(?:\.so(?:\.[\w.]+)?|\.dylib|\.dll)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """A library that a requirement installs."""

    path: str
    """Where it is in the wheel or npm package."""
    source: str
    """The distribution and its version: `librmm-cu12 26.10.0`."""
    others: tuple[str, ...] = ()
    """Where else requirements install a library of this name."""

    @property
    def paths(self) -> tuple[str, ...]:
        """All places where requirements install a library of this name."""
        return (self.path, *self.others)


Libraries = dict[str, Supply]
"""By file name without folders, in lower case."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsatisfied:
    """A requirement that no version in the index satisfies."""

    requirement: str
    extra: str
    """The extra that requires it; "" for none."""
    newest: str
    """The newest version in the index; "" if the index does not have the project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplied:
    """What an installation brings: without extras, and with each extra in addition."""

    always: Mapping[str, Supply] = field(default_factory=dict)
    by_platform: Mapping[Platform, Mapping[str, Supply]] = field(default_factory=dict)
    """What is installed on one platform, where npm chooses."""
    by_extra: Mapping[str, Mapping[str, Supply]] = field(default_factory=dict)
    unsatisfied: tuple[Unsatisfied, ...] = ()
    unread: Mapping[str, str] = field(default_factory=dict)
    """The distributions whose files could not be read, each with why; also those that only an extra brings."""
    unread_always: frozenset[str] = frozenset()
    """Those of them that are installed without an extra."""
    unread_extras: tuple[str, ...] = ()
    """The extras that bring some of them."""
    exports: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """What each library exports that was read, by name in lower case, with what it loads itself."""

    def list_always(self, platforms: Iterable[Platform] = ()) -> Mapping[str, Supply]:
        """What is installed without an extra on one of some platforms."""
        if not self.by_platform:
            return self.always
        rows = (row for platform in platforms for row in self.by_platform.get(platform, {}).items())
        return {**self.always, **dict(rows)}

    def find(self, name: str, platforms: Iterable[Platform] = ()) -> Supply | None:
        """The library that is installed under a needed name, without an extra, on one of some platforms."""
        return find_library(self.list_always(platforms), name)

    def find_extras(self, name: str) -> Mapping[str, Supply]:
        """The extras that bring a library, and what brings it."""
        found = ((extra, find_library(libraries, name)) for extra, libraries in self.by_extra.items())
        return {extra: supply for extra, supply in found if supply}


def gather_libraries(distributions: Iterable[tuple[str, Iterable[str]]]) -> Libraries:
    """The libraries of distributions, each given with its version and its files. Of one name, the first counts."""
    libraries: Libraries = {}
    for source, paths in distributions:
        for path in filter(is_library, paths):
            key = posixpath.basename(path).lower()
            first = libraries.get(key)
            libraries[key] = replace(first, others=(*first.others, path)) if first else Supply(path=path, source=source)
    return libraries


def is_library(path: str) -> bool:
    """Whether a file has the name of a library."""
    return bool(_LIBRARY.search(posixpath.basename(path)))


def find_library(libraries: Mapping[str, Supply], name: str) -> Supply | None:
    """The library of a needed name, or of that name with more numbers, whose SONAME it is."""
    base = posixpath.basename(name).lower()
    longer = (supply for key, supply in libraries.items() if ".so" in base and key.startswith(f"{base}."))
    return libraries.get(base) or next(longer, None)

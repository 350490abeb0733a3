"""What an SBOM states in any format: a package, its libraries or the packages that hold them, a runtime."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

from latebind.system.archive import source_date_epoch

if TYPE_CHECKING:
    from loadcheck.tables.parts import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """One library of one target, with the hash that it has in every package."""

    name: str
    target: str
    sha256: str
    floor: str = ""
    toolchain: str = ""
    is_data: bool = False
    """Whether it is a file next to the library that was not compiled."""
    version: str = ""
    """By default that of the package."""
    parts: tuple[Part, ...] = ()
    """What is linked into it statically."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """A runtime that is bound late: another distribution supplies it."""

    name: str
    title: str
    range: str
    """A `vers` URI."""
    supplier: str = ""
    is_required: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """One package."""

    purl: str
    version: str
    license: str = ""
    supplier: str = ""
    phase: Literal["build", "post-build"] = "build"
    """Whether it was made with the package, or from the finished package."""
    tools: tuple[tuple[str, str], ...] = ()
    """latebind and the compilers, each with its version, "" where that is unknown."""
    libraries: tuple[Library, ...] = ()
    parts: tuple[str, ...] = ()
    """The URLs of the packages that hold the libraries instead."""
    runtimes: tuple[Late, ...] = ()
    further: tuple[Part, ...] = ()
    """Parts of which nobody knows the file."""

    @property
    def linked(self) -> tuple[Part, ...]:
        """All static parts, each once."""
        return tuple(sorted({*self.further, *(part for library in self.libraries for part in library.parts)}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What a release compares with its configuration."""

    ranges: tuple[tuple[str, str], ...]
    """Each runtime that is bound late, with its range."""
    tools: tuple[str, ...]


def name_of(purl: str) -> str:
    """The name in a package URL: `tiny` of `pkg:pypi/tiny@1.2.3`."""
    return unquote(purl.partition("/")[2].partition("@")[0])


def supplier_of(names: Sequence[str], project: str) -> str:
    """Who supplies a package: its authors, or a name for them."""
    return ", ".join(name for name in names if name) or f"The {project} authors"


def plain_range(range_: str) -> str:
    """A `vers` URI as versions are usually written: `>=1.20, <2`."""
    return range_.partition("/")[2].replace("|", ", ")


def stated_time() -> str:
    """SOURCE_DATE_EPOCH as ISO 8601 in UTC. Raises InputError as source_date_epoch()."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(source_date_epoch()))

"""What an SBOM states in any format: a package, its libraries or the packages that hold them, a runtime."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import unquote


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """A runtime that is bound late: another distribution supplies it."""

    name: str
    title: str
    range: str
    """A `vers` URI."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """One package."""

    purl: str
    version: str
    license: str = ""
    tools: tuple[tuple[str, str], ...] = ()
    """latebind and the compilers, each with its version, "" where that is unknown."""
    libraries: tuple[Library, ...] = ()
    parts: tuple[str, ...] = ()
    """The URLs of the packages that hold the libraries instead."""
    runtimes: tuple[Late, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What a release compares with its configuration."""

    ranges: tuple[tuple[str, str], ...]
    """Each runtime that is bound late, with its range."""
    tools: tuple[str, ...]


def name_of(purl: str) -> str:
    """The name in a package URL: `tiny` of `pkg:pypi/tiny@1.2.3`."""
    return unquote(purl.partition("/")[2].partition("@")[0])

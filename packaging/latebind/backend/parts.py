"""Finds code that was linked statically into a binary, by text that only its implementation holds (parts.toml)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from latebind.backend.toml import freeze, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from mmap import mmap

Family = Literal["zig", "llvm", "gcc", "msvc"]
_COMPILERS: tuple[tuple[Family, re.Pattern[str]], ...] = (
    ("zig", re.compile(r"^zig (\d\S*)")),
    ("msvc", re.compile(r"^host Microsoft .* (\d+\.\d+\.\d+)")),
    ("llvm", re.compile(r"\bclang version (\d\S*)")),
    ("gcc", re.compile(r"^host \S*(?:gcc|g\+\+|cc|c\+\+)\S* \(.*\) (\d\S*)")),
)
_COMMENT = re.compile(rb"GCC: \([^)\0]{1,80}\) (\d+\.\d+\.\d+)")


@dataclass(frozen=True, kw_only=True)
class KnownPart:
    """A row of parts.toml."""

    name: str
    supplier: str
    purl: str
    source: str
    """Where the text is from."""
    license: str = ""
    patterns: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    """Text that must be there as well."""
    unless: tuple[str, ...] = ()
    """Text of another project that holds this one's text, too."""
    compiler: Family | None = None
    """The compiler that supplies it, whose version it has."""

    @cached_property
    def searches(self) -> tuple[re.Pattern[bytes], ...]:
        """The patterns for bytes."""
        return tuple(re.compile(text.encode()) for text in self.patterns)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Part:
    """One version of a project whose code is in a library; "" for a version that is not known."""

    name: str
    version: str = ""
    supplier: str = ""
    purl: str = ""
    license: str = ""


def find_parts(data: bytes | mmap, toolchain: str = "") -> tuple[Part, ...]:
    """The parts in a binary, sorted by name.

    `toolchain` is the compiler that linked it, as a stage's manifest names it. Without it, the versions of GCC that an
    ELF file names are those of GCC's libraries, and those of other compilers are not known.
    """
    versions = dict(_compilers(data, toolchain))
    parts = [part for known_part in known_parts().values() for part in _find(known_part, data, versions)]
    return tuple(sorted(set(parts)))


@cache
def known_parts() -> Mapping[str, KnownPart]:
    """The rows of the table by name."""
    return {row["name"]: KnownPart(**freeze(row)) for row in _table()["part"]}


def part_of(known_part: KnownPart, version: str) -> Part:
    """A version of a known part."""
    purl = f"{known_part.purl}@{version}" if version else known_part.purl
    return Part(
        name=known_part.name, version=version, supplier=known_part.supplier, purl=purl, license=known_part.license
    )


@cache
def _table() -> dict[str, Any]:
    return read_table(Path(__file__).with_name("parts.toml"))


def _find(known_part: KnownPart, data: bytes | mmap, versions: Mapping[Family, str]) -> Iterator[Part]:
    """The versions of one part in a binary."""
    if (
        known_part.compiler
        and known_part.compiler not in versions
        and not (known_part.patterns and known_part.compiler == "llvm")
    ):
        return
    if any(data.find(text.encode()) < 0 for text in known_part.needs) or any(
        data.find(text.encode()) >= 0 for text in known_part.unless
    ):
        return
    matches = [match for search in known_part.searches for match in _matches(search, data)]
    if known_part.compiler:
        if matches or not known_part.patterns:
            yield part_of(known_part, versions.get(known_part.compiler, ""))
        return
    named = {match[1].decode("ascii", "replace") for match in matches if match.re.groups}
    for version in named or {""} if matches else ():
        yield part_of(known_part, version)


def _matches(search: re.Pattern[bytes], data: bytes | mmap) -> Iterator[re.Match[bytes]]:
    """All matches of a pattern with a version, else the first."""
    if search.groups:
        yield from search.finditer(data)
    elif (match := search.search(data)) is not None:
        yield match


def _compilers(data: bytes | mmap, toolchain: str) -> Iterator[tuple[Family, str]]:
    """The compilers whose libraries may be in a binary, each with the version that its libraries have."""
    for family, search in _COMPILERS:
        if match := search.search(toolchain):
            yield family, match[1]
            if family == "zig":
                yield "llvm", _table()["llvm_of_zig"].get(match[1], f"zig-{match[1]}")
            return
    if not toolchain and data[:4] == b"\x7fELF" and (named := _COMMENT.findall(data)):
        yield "gcc", max(named, key=lambda text: [int(number) for number in text.split(b".")]).decode()

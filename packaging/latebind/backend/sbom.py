"""Makes an SBOM, in any format: libraries, what compiled them, and what they bind late."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from latebind.backend.cyclonedx import cyclonedx
from latebind.backend.files import source_date_epoch
from latebind.backend.parts import Part, find_parts
from latebind.backend.stage import Stage

SBOM_FILE = "latebind.cdx.json"
"""The name of an SBOM inside a package."""


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

    @property
    def plain_range(self) -> str:
        """The range as versions are usually written: `>=1.20, <2`."""
        return self.range.partition("/")[2].replace("|", ", ")


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
    def name(self) -> str:
        """The name in its package URL: `tiny` of `pkg:pypi/tiny@1.2.3`."""
        return _name_of(self.purl)

    @property
    def time(self) -> str:
        """SOURCE_DATE_EPOCH as ISO 8601 in UTC. Raises InputError as source_date_epoch()."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(source_date_epoch()))

    @property
    def holders(self) -> tuple[tuple[str, str], ...]:
        """The name and the URL of each of `parts`."""
        return tuple((_name_of(purl), purl) for purl in self.parts)

    @property
    def linked(self) -> tuple[Part, ...]:
        """All static parts, each once."""
        return tuple(sorted({*self.further, *(part for library in self.libraries for part in library.parts)}))


def render_bill(bill: Bill, format_: str) -> bytes:
    """An SBOM in a version of CycloneDX; equal contents give equal bytes."""
    return (json.dumps(cyclonedx(bill, format_.removeprefix("cyclonedx-")), indent=2, sort_keys=True) + "\n").encode()


def list_libraries(
    stage: Stage, component: str, data: Sequence[str] = (), more: Sequence[Path] = ()
) -> Iterator[Library]:
    """The libraries of a component and `more` of its files, and what matches the globs of `data` next to them."""
    hashes, manifest = {stage.root / file.path: file.sha256 for file in stage.manifest.files}, stage.manifest
    for path in (*stage.libraries(component), *more):
        yield Library(
            name=path.name,
            target=stage.rid,
            sha256=hashes[path],
            floor=manifest.floor,
            toolchain=manifest.toolchain,
            parts=find_parts(path.read_bytes(), manifest.toolchain),
        )
    for path in stage.data(component, data):
        yield Library(name=path.name, target=stage.rid, sha256=hashes[path], is_data=True)


def list_tools(version: str, stages: Sequence[Stage]) -> tuple[tuple[str, str], ...]:
    """latebind and the compilers of some stages, each with its version."""
    compilers = (stage.manifest.toolchain.partition(" ") for stage in stages)
    return (("latebind", version), *sorted({(name, version) for name, _, version in compilers}))


def _name_of(purl: str) -> str:
    return unquote(purl.partition("/")[2].partition("@")[0])

"""Makes the SBOM of a package in CycloneDX: its libraries, what compiled them, and what it binds late."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple
from urllib.parse import unquote

from packaging.version import Version

from latebind import __version__
from latebind.build.cyclonedx import cyclonedx, read_cyclonedx
from latebind.build.stage import Stage
from latebind.config.config import Config
from latebind.config.package import Package
from latebind.config.runtime import RuntimeUse
from latebind.errors import InputError
from latebind.model import SbomFormat
from latebind.system.archive import source_date_epoch
from latebind.tables.parts import Part, find_parts

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


class Stated(NamedTuple):
    """What a release compares with its configuration."""

    ranges: tuple[tuple[str, str], ...]
    """Each runtime that is bound late, with its range."""
    tools: tuple[str, ...]


def sbom(  # noqa: PLR0913  # what holds what
    config: Config,
    package: str,
    stages: Sequence[Stage],
    purl: str,
    *,
    parts: Sequence[str] = (),
    more: Sequence[str] = (),
    has_static: bool = False,
) -> bytes:
    """The SBOM of a package that holds those stages' libraries; `purl` is the package's own package URL.

    `parts` are the URLs of the packages that hold the libraries instead, where a package was split; `more` are further
    packages of the configuration whose libraries are in the same file; `has_static` says whether the static ones are.
    """
    packages = (package, *more)
    uses = {runtime.name: runtime for name in packages if (runtime := config.runtime_of(name)) is not None}
    by_component = {config.packages[name].component: config.packages[name] for name in packages}
    bill = Bill(
        purl=purl,
        version=config.project.version,
        license=config.project.license,
        supplier=supplier_of(config.project.author_names, config.project.name),
        tools=_tools(stages),
        libraries=tuple(
            library
            for component_package in by_component.values()
            for stage in stages
            for library in _files(stage, component_package, has_static=has_static)
        ),
        parts=tuple(parts),
        runtimes=tuple(map(_late, uses.values())),
    )
    return render_bill(bill, config.project.sbom)


def render_bill(bill: Bill, format_: SbomFormat) -> bytes:
    """An SBOM in a version of CycloneDX; equal contents give equal bytes."""
    return (json.dumps(cyclonedx(bill, format_.removeprefix("cyclonedx-")), indent=2, sort_keys=True) + "\n").encode()


def read_sbom(data: bytes, where: str = "") -> Stated:
    """What an SBOM of latebind's states. Raises InputError for another file."""
    try:
        return Stated(*read_cyclonedx(json.loads(data)))
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:  # of another form
        raise InputError("is not an SBOM that latebind writes", where=where) from error


def supplier_of(names: Sequence[str], project: str) -> str:
    """Who supplies a package: its authors, or a name for them."""
    return ", ".join(name for name in names if name) or f"The {project} authors"


def version_range(runtime: RuntimeUse) -> str:
    """The versions of a runtime that are accepted, as a `vers` URI: from the minimum on, below the next other one."""
    minimum = Version(runtime.minimum)
    ends = {"major": f"|<{minimum.major + 1}", "minor": f"|<{minimum.major}.{minimum.minor + 1}", "always": ""}
    below = ends[runtime.traits.compatible]
    return f"vers:generic/>={runtime.minimum}{below}"


def _late(runtime: RuntimeUse) -> Late:
    preset = runtime.traits
    supplier = preset.supplier or supplier_of((), preset.title)
    return Late(name=runtime.name, title=preset.title, range=version_range(runtime), supplier=supplier)


def _files(stage: Stage, package: Package, *, has_static: bool) -> Iterator[Library]:
    """The libraries of a package for a target, and what a plugin has next to its own."""
    static = stage.static_libraries(package.component) if has_static else ()
    hashes, manifest = {stage.root / file.path: file.sha256 for file in stage.manifest.files}, stage.manifest
    for path in (*stage.libraries(package.component), *static):
        yield Library(
            name=path.name,
            target=stage.rid,
            sha256=hashes[path],
            floor=manifest.floor,
            toolchain=manifest.toolchain,
            parts=find_parts(path.read_bytes(), manifest.toolchain),
        )
    for path in stage.data(package.component, package.companions):
        yield Library(name=path.name, target=stage.rid, sha256=hashes[path], is_data=True)


def _tools(stages: Sequence[Stage]) -> tuple[tuple[str, str], ...]:
    compilers = (stage.manifest.toolchain.partition(" ") for stage in stages)
    return (("latebind", __version__), *sorted({(name, version) for name, _, version in compilers}))


def _name_of(purl: str) -> str:
    return unquote(purl.partition("/")[2].partition("@")[0])

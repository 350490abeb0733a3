"""Makes the SBOM of a package: its libraries, what compiled them, and what it binds late."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from packaging.version import Version

from latebind import __version__
from latebind.build.bill import Bill, Late, Library, Stated, supplier_of
from latebind.build.cyclonedx import cyclonedx, read_cyclonedx
from latebind.build.spdx import read_spdx, spdx
from latebind.build.stage import Stage
from latebind.config.config import Config
from latebind.config.package import Package
from latebind.config.runtime import RuntimeUse
from latebind.errors import InputError
from latebind.model import SbomFormat
from loadcheck.tables.parts import find_parts

_SUFFIXES = {"cyclonedx": "cdx.json", "spdx": "spdx.json"}
SBOM_FILES: Mapping[str, str] = {f"latebind.{suffix}": suffix for suffix in _SUFFIXES.values()}
"""The names of SBOMs inside packages, each with its suffix."""


def sbom_file(config: Config) -> str:
    """The name of the SBOM inside a package."""
    return sbom_name(config.project.sbom)


def sbom_name(format_: SbomFormat) -> str:
    """The name of an SBOM in this format."""
    return f"latebind.{_SUFFIXES[format_.partition('-')[0]]}"


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
    """An SBOM in a format; equal contents give equal bytes."""
    name, _, version = format_.partition("-")
    document = spdx(bill) if name == "spdx" else cyclonedx(bill, version)
    return (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()


def read_sbom(data: bytes, where: str = "") -> Stated:
    """What an SBOM of latebind's states, in any of the formats. Raises InputError for another file."""
    try:
        document = json.loads(data)
        return read_spdx(document) if "spdxVersion" in document else read_cyclonedx(document)
    except (ValueError, RecursionError, AttributeError, KeyError, TypeError) as error:  # of another form
        raise InputError("is not an SBOM that latebind writes", where=where) from error


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

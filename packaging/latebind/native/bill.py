"""Makes the SBOM and the notices of a package of a project, and reads the SBOM."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from packaging.version import Version

from latebind import __version__
from latebind.backend.cyclonedx import read_cyclonedx
from latebind.backend.notices import notices
from latebind.backend.sbom import Bill, Late, list_libraries, list_tools, render_bill
from latebind.backend.stage import Stage
from latebind.config.config import Config
from latebind.config.runtime import RuntimeUse
from latebind.errors import InputError
from latebind.native.linklibraries import static_libraries
from latebind.system.resources import cmake_dir


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
        tools=list_tools(__version__, stages),
        libraries=tuple(
            library
            for component_package in by_component.values()
            for stage in stages
            for library in list_libraries(
                stage,
                component_package.component,
                component_package.companions,
                static_libraries(stage, component_package.component) if has_static else (),
            )
        ),
        parts=tuple(parts),
        runtimes=tuple(map(late_of, uses.values())),
    )
    return render_bill(bill, config.project.sbom)


def package_notices(config: Config, packages: Iterable[str], stages: Iterable[Stage]) -> dict[str, bytes]:
    """The notices that go with all libraries of some packages for some targets."""
    components = [config.packages[name].component for name in packages]
    libraries = [path for stage in stages for component in components for path in stage.libraries(component)]
    return notices(cmake_dir(), libraries)


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


def late_of(runtime: RuntimeUse) -> Late:
    """A runtime as an SBOM has it."""
    preset = runtime.traits
    supplier = preset.supplier or supplier_of((), preset.title)
    return Late(name=runtime.name, title=preset.title, range=version_range(runtime), supplier=supplier)

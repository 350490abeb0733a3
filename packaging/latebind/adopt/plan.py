"""Says what CMake's facts mean for late binding, and plans a latebind.toml where they leave no question open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.version import Version

from latebind.adopt.configured import PACKED, Configured
from latebind.backend.targets import host_rid
from latebind.config.schema import SCHEMA_ID
from latebind.semver import version_of
from latebind.tables.presets import preset
from latebind.templates import render

if TYPE_CHECKING:
    from collections.abc import Iterator

UNSPECIFIED = "Unspecified"
"""CMake's name for the component of an install() without COMPONENT."""


def list_facts(configured: Configured) -> Iterator[str]:
    """What CMake did that matters, a line each: downloads, links and bundled runtimes."""
    for place, what in configured.downloads:
        yield f"{place}: downloads {what}"
    for link in configured.links:
        how = "installed by no rule" if link.component is None else f"installed in the component {link.component}"
        yield f"{link.place}: {link.target} links {preset(link.runtime).title} ({link.kind}, {how})"
    for place, file in configured.bundled:
        yield f"{place}: installs {file}"


def list_obstacles(configured: Configured) -> Iterator[str]:
    """What keeps the project from binding late as it is, a line each with the way out."""
    for link in configured.links:
        if not link.can_be_late:
            yield (
                f"{link.place}: {link.target} links {link.item}, which the stub does not replace: link what "
                f"find_package({link.runtime}) or find_library() finds"
            )
    for place, file in configured.bundled:
        yield f"{place}: installs {file}, a copy of the runtime: remove this install()"
    for file in configured.outside:
        yield f"{file}: is compiled, but is outside of the project's folder: name a folder that contains it"
    for link in configured.links:
        if link.component is None and link.kind in PACKED:
            yield f"{link.place}: nothing installs {link.target}: add install(TARGETS {link.target} COMPONENT NAME)"


def render_configuration(configured: Configured) -> str:
    """The latebind.toml of a project without obstacles, for this machine."""
    packages: dict[str, tuple[str, str]] = {}
    for link in configured.links:
        if link.kind in PACKED and link.component is not None:
            name = configured.project["name"] if link.component == UNSPECIFIED else link.component
            packages.setdefault(name, (link.component, link.runtime))
    return render(
        "init/latebind.toml.j2",
        schema=SCHEMA_ID,
        project=configured.project,
        runtimes={name: _choose_minimum(name, configured.asked.get(name, "")) for _, name in packages.values()},
        rid=host_rid(),
        packages=packages,
        unspecified=UNSPECIFIED,
    )


def _choose_minimum(name: str, asked: str) -> str:
    """The oldest version that latebind supports, or the one that find_package() asks for if that is newer."""
    return max([preset(name).floor, *filter(version_of, [asked])], key=Version)

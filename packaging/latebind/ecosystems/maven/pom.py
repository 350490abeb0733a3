"""Writes POMs: an artifact's coordinates, what describes it, and what it depends on."""

from __future__ import annotations

import re

from latebind.config.config import Config
from latebind.ecosystems.maven.config import maven_tables
from latebind.tables.presets import RuntimePreset
from latebind.templates import render
from loadcheck.kinds.maven.pom import MavenArtifact

ECOSYSTEM = "maven"
"""Its name in the tables of runtimes."""
_LICENSE_ID = re.compile(r"[A-Za-z0-9.-]+")
"""A license expression that names one license, which has a page on spdx.org."""


def write_pom(config: Config, package: str) -> str:
    """The POM of a package's artifact, with what Maven Central asks for as far as the configuration says it."""
    table, project = maven_tables(config)[package], config.project
    return render_pom(
        MavenArtifact(group=table.group, name=table.name, version=project.version),
        description=project.description or project.name,
        repository=project.repository,
        license=project.license,
        authors=project.people,
        dependencies=_list_dependencies(config, package),
    )


def render_pom(artifact: MavenArtifact, **fields: object) -> str:
    """A POM; the fields are description, repository (of the sources), license, authors and dependencies."""
    defaults = {"description": "", "repository": "", "license": "", "authors": (), "dependencies": ()}
    values = {**defaults, **fields}
    is_listed = _LICENSE_ID.fullmatch(str(values["license"])) and not str(values["license"]).startswith("LicenseRef-")
    url = f"https://spdx.org/licenses/{values['license']}.html" if is_listed else ""
    return render("maven/pom.xml.j2", artifact=artifact, license_url=url, **values)


def _list_dependencies(config: Config, package: str) -> list[MavenArtifact]:
    """The packages that it requires, at its own version; and the runtime, which an application has from elsewhere."""
    tables, needed = maven_tables(config), config.packages[package].requires
    others = [
        MavenArtifact(group=tables[name].group, name=tables[name].name, version=config.project.version)
        for name in needed
        if name in tables
    ]
    runtime = config.runtime_of(package)
    artifact = tables[package].runtime or (find_runtime_artifact(runtime.traits) if runtime is not None else "")
    if runtime is None or not artifact:
        return others
    group, _, name = artifact.partition(":")
    dependency = MavenArtifact(
        group=group,
        name=name,
        version=f"[{runtime.minimum},)",
        scope="runtime",
        optional=not tables[package].runtime,
    )
    return [*others, dependency]


def find_runtime_artifact(runtime: RuntimePreset) -> str:
    """The artifact that supplies a runtime, as `group:name`; "" for none."""
    supply = runtime.supplies.get(ECOSYSTEM)
    return supply.packages[0] if supply is not None else ""

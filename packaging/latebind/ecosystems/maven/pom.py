"""Writes and reads POMs: an artifact's coordinates, what describes it, and what it depends on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import defusedxml.ElementTree

from latebind.ecosystems.maven.config import maven_tables
from latebind.errors import InputError
from latebind.templates import render

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from latebind.config.config import Config
    from latebind.tables.presets import RuntimePreset

ECOSYSTEM = "maven"
"""Its name in the tables of runtimes."""
DESCRIBING = ("name", "description", "url", "developers", "scm")
"""What describes an artifact to people."""
_LICENSE_ID = re.compile(r"[A-Za-z0-9.-]+")
"""A license expression that names one license, which has a page on spdx.org."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MavenArtifact:
    """An artifact that another one needs."""

    group: str
    name: str
    version: str
    """A version, or a range: `[1.19,)`."""
    scope: str = "compile"
    optional: bool = False

    @property
    def id(self) -> str:
        """`group:name`."""
        return f"{self.group}:{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pom:
    """What is read of a POM."""

    group: str
    name: str
    version: str
    has_parent: bool = False
    licenses: tuple[str, ...] = ()
    described: frozenset[str] = frozenset()
    """Those of DESCRIBING that it has."""
    dependencies: tuple[MavenArtifact, ...] = ()


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


def _has_text(element: Element | None) -> bool:
    return element is not None and bool("".join(element.itertext()).strip())


def read_pom(text: bytes, where: str) -> Pom:
    """What a POM states about its artifact. Raises InputError for a file that is not a POM.

    A group or version that it leaves out is that of its <parent>. Source: "POM Reference", Inheritance.
    """
    try:
        root = defusedxml.ElementTree.fromstring(text)
    except (defusedxml.ElementTree.ParseError, defusedxml.DefusedXmlException, ValueError) as error:
        raise InputError(f"is not a POM: {error}", where=where) from error
    space = root.tag.partition("}")[0] + "}" if root.tag.startswith("{") else ""
    if root.tag != f"{space}project":
        raise InputError("is not a POM: its root is not <project>", where=where)

    def read(element: object, key: str, default: str = "") -> str:
        found: str | None = element.findtext(f"{space}{key}")  # type: ignore[attr-defined]  # an Element
        return (found or default).strip()

    parent = root.find(f"{space}parent")

    def inherit(key: str) -> str:
        return read(root, key, read(parent, key) if parent is not None else "")

    return Pom(
        group=inherit("groupId"),
        name=read(root, "artifactId"),
        version=inherit("version"),
        has_parent=parent is not None,
        licenses=tuple(read(one, "name") for one in root.iterfind(f"{space}licenses/{space}license")),
        described=frozenset(key for key in DESCRIBING if _has_text(root.find(f"{space}{key}"))),
        dependencies=tuple(
            MavenArtifact(
                group=read(one, "groupId"),
                name=read(one, "artifactId"),
                version=read(one, "version"),
                scope=read(one, "scope", "compile"),
                optional=read(one, "optional") == "true",
            )
            for one in root.iterfind(f"{space}dependencies/{space}dependency")
        ),
    )

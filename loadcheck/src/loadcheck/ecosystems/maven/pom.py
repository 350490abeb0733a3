"""Reads POMs: an artifact's coordinates, its licenses, and what it depends on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import defusedxml.ElementTree

from loadcheck.errors import InputError

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


DESCRIBING = ("name", "description", "url", "developers", "scm")
"""What describes an artifact to people."""


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

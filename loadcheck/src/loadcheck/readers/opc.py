"""Reads the XML of a nupkg: nuspec, content types and relationships."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

import defusedxml.ElementTree
from defusedxml.common import DefusedXmlException

from loadcheck.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from xml.etree.ElementTree import Element

    from loadcheck.readers.contents import Contents


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDependency:
    """A package that a nuspec depends on."""

    id: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedNuspec:
    """What a nuspec says. `fields` are the simple metadata elements by name."""

    fields: Mapping[str, str]
    license_type: str
    dependencies: tuple[ParsedDependency, ...]


def parse(data: bytes, where: str) -> Element:
    """The root element. Raises InputError when it is not well-formed XML or declares entities."""
    try:
        root: Element = defusedxml.ElementTree.fromstring(data, forbid_dtd=True)
    except DefusedXmlException as error:
        raise InputError("declares a DTD or entities, which no NuGet tool writes", where=where) from error
    except (SyntaxError, ValueError, LookupError) as error:  # ParseError is a SyntaxError
        raise InputError(f"is not well-formed XML: {error}", where=where) from error
    return root


def nuspecs(package: Contents) -> Mapping[str, ParsedNuspec]:
    """The nuspecs at the root by file name. Raises InputError for the first that cannot be read."""
    return {
        name: nuspec(data, name)
        for name, data in sorted(package.texts.items())
        if name.lower().endswith(".nuspec") and "/" not in name
    }


def readable_nuspec(package: Contents) -> tuple[str, ParsedNuspec] | None:
    """The first nuspec with its name, or None if none can be read (LB405 reports it)."""
    try:
        return next(iter(nuspecs(package).items()), None)
    except InputError:
        return None


def nuspec(data: bytes, where: str) -> ParsedNuspec:
    """Read a nuspec of any XML namespace. Raises InputError."""
    root = parse(data, where)
    metadata = next((child for child in root if _local(child) == "metadata"), None)
    if _local(root) != "package" or metadata is None:
        raise InputError("has no <package><metadata>", where=where)
    fields = {_local(child): (child.text or "").strip() for child in metadata}
    dependencies = [leaf for child in metadata if _local(child) == "dependencies" for leaf in child.iter()]
    return ParsedNuspec(
        fields=fields,
        license_type=next((child.get("type", "") for child in metadata if _local(child) == "license"), ""),
        dependencies=tuple(
            ParsedDependency(id=leaf.get("id", ""), version=leaf.get("version", ""))
            for leaf in dependencies
            if _local(leaf) == "dependency"
        ),
    )


def content_types(package: Contents) -> tuple[set[str], set[str]]:
    """Extensions and part names that have a content type, in lower case. Raises InputError."""
    defaults: set[str] = set()
    overrides: set[str] = set()
    name = "[Content_Types].xml"
    if name in package.texts:
        for element in parse(package.texts[name], name):
            if _local(element) == "Default":
                defaults.add(element.get("Extension", "").lower())
            elif _local(element) == "Override":
                overrides.add(element.get("PartName", "").lower())
    return defaults, overrides


def relationships(package: Contents) -> tuple[str, ...]:
    """The parts that the package's relationships name, without the leading slash. Raises InputError."""
    name = "_rels/.rels"
    if name not in package.texts:
        return ()
    internal = [
        relationship
        for relationship in parse(package.texts[name], name)
        if relationship.get("TargetMode", "Internal") == "Internal"
    ]
    return tuple(unquote(posixpath.normpath(relationship.get("Target", "")).lstrip("/")) for relationship in internal)


def _local(element: Element) -> str:
    return str(element.tag).rpartition("}")[2]

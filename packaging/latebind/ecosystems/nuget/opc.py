"""Writes a nupkg's container: OPC parts around the files, as NuGet writes them.

The layout is what `dotnet pack` makes (compared part by part in tests/ecosystems/nuget/test_against_nuget.py) and
ECMA-376 part 2: a content type for every part, a relationship to the nuspec and to the core properties. Like NuGet,
and unlike the standard, names are stored as they are and not percent-encoded; NuGet decodes them when it unpacks.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from latebind.errors import InputError
from latebind.system.archive import Entry, write_zip

if TYPE_CHECKING:
    from latebind.ecosystems.nuget.nuspec import Nuspec

CONTENT_TYPES = "[Content_Types].xml"
RELATIONSHIPS = "_rels/.rels"

_TYPES_NS = "http://schemas.openxmlformats.org/package/2006/content-types"
_RELATIONS_NS = "http://schemas.openxmlformats.org/package/2006/relationships"
_PROPERTIES_NS = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
_MANIFEST_RELATION = "http://schemas.microsoft.com/packaging/2010/07/manifest"
_PROPERTIES_RELATION = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_KNOWN_TYPES = {
    "rels": "application/vnd.openxmlformats-package.relationships+xml",
    "psmdcp": "application/vnd.openxmlformats-package.core-properties+xml",
}
_FILE_TYPE = "application/octet"
_RESERVED = frozenset({"_rels", "package"})
_UNPORTABLE = re.compile(r'[<>:"|?*\x00-\x1f\x7f]|[. ](/|$)|%[0-9A-Fa-f]{2}')
"""Text that names on Windows cannot contain, or that NuGet would decode into another name."""


def write_nupkg(path: Path, nuspec: Nuspec, text: bytes, files: Sequence[Entry]) -> None:
    """Write a nupkg whose bytes depend only on the arguments and SOURCE_DATE_EPOCH; `text` is the nuspec as XML.

    The archive is written to a temporary file and renamed. Raises InputError when a name is not a plain relative path,
    has characters that some system cannot store, is reserved for OPC's own parts, is there twice, or differs from
    another only by case (part names are then equal: ECMA-376 part 2, 6.2.2.3).
    """
    manifest = f"{nuspec.id}.nuspec"
    _check_names([manifest, *(file.name for file in files)], where=str(path))
    identity = hashlib.sha256(text).hexdigest()[:32]
    core = f"package/services/metadata/core-properties/{identity}.psmdcp"
    parts = [
        Entry(name=manifest, data=text),
        Entry(name=RELATIONSHIPS, data=_relationships(manifest, core)),
        Entry(name=core, data=_core_properties(nuspec)),
        *files,
    ]
    types = Entry(name=CONTENT_TYPES, data=_content_types(part.name for part in parts))
    # NuGet keeps the time when it unpacks, and MSBuild copies no file of the same time and size over another: all
    # releases with one time would leave the old files in place (dotnet/core#3388, NuGet/Home#8601).
    write_zip(path, [types, *parts], first=(CONTENT_TYPES, RELATIONSHIPS, manifest), later=_age(nuspec.version))


_STEP = 128
"""Seconds from one patch release to the next: room for 64 moments that a zip distinguishes."""


def _age(version: str) -> int:
    """Seconds that grow with a version, as long as its second and third number are below 100.

    Pre-releases come in their order before their final release; a fourth number counts on from there.
    """
    numbers, _, pre = version.partition("-")
    major, minor, patch, fourth = [*(int(number) for number in numbers.split(".")), 0, 0, 0][:4]
    seconds = ((major * 100 + minor) * 100 + patch) * _STEP
    if not pre:
        return seconds + 2 * min(40 + fourth, 63)
    phase, _, number = pre.rpartition(".")
    order = {"0.dev": 0, "alpha": 10, "beta": 20, "rc": 30}.get(phase, 0)
    return seconds + 2 * (order + min(int(number) if number.isdigit() else 0, 9))


def _check_names(names: Sequence[str], *, where: str) -> None:
    seen: dict[str, str] = {}
    for name in names:
        path = PurePosixPath(name)
        plain = not path.is_absolute() and str(path) == name and ".." not in path.parts and "\\" not in name
        if not plain or not name:
            raise InputError(f"{name!r} is not a plain relative path", where=where)
        if _UNPORTABLE.search(name):
            raise InputError(f"some systems or NuGet cannot unpack {name!r} under this name", where=where)
        if path.parts[0].lower() in _RESERVED or name.lower() == CONTENT_TYPES.lower():
            raise InputError(f"{name} is at a path that NuGet or OPC reserves for its own parts", where=where)
        other = seen.setdefault(name.casefold(), name)
        if other != name or names.count(name) > 1:
            detail = "is in the package twice" if other == name else f"differs from {other} only by case"
            raise InputError(f"{name} {detail}", where=where)


def _content_types(names: Iterable[str]) -> bytes:
    """A default for each extension, an override for each part without one; relationships and properties first."""
    extensions, bare = dict(_KNOWN_TYPES), []
    for name in sorted(names):
        dot = re.fullmatch(r".*\.([^./]+)", name)
        if dot is None:
            bare.append(name)
        else:
            extensions.setdefault(dot.group(1).lower(), _FILE_TYPE)
    types = [f'<Default Extension="{extension}" ContentType="{kind}" />' for extension, kind in extensions.items()]
    types += [f'<Override PartName={quoteattr("/" + name)} ContentType="{_FILE_TYPE}" />' for name in bare]
    return _xml(f'<Types xmlns="{_TYPES_NS}">', types, "</Types>")


def _relationships(manifest: str, core: str) -> bytes:
    relations = [
        f'<Relationship Type="{kind}" Target="/{target}" Id="R{_short(target)}" />'
        for kind, target in ((_MANIFEST_RELATION, manifest), (_PROPERTIES_RELATION, core))
    ]
    return _xml(f'<Relationships xmlns="{_RELATIONS_NS}">', relations, "</Relationships>")


def _core_properties(nuspec: Nuspec) -> bytes:
    """The metadata in the container itself; the nuspec is what NuGet reads."""
    head = (
        '<coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
        f' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="{_PROPERTIES_NS}">'
    )
    authors, tags = ", ".join(nuspec.authors), " ".join(nuspec.tags)
    properties = [
        f"<dc:creator>{escape(authors)}</dc:creator>",
        f"<dc:description>{escape(nuspec.description)}</dc:description>",
        f"<dc:identifier>{escape(nuspec.id)}</dc:identifier>",
        f"<version>{escape(nuspec.version)}</version>",
        f"<keywords>{escape(tags)}</keywords>",
        "<lastModifiedBy>latebind</lastModifiedBy>",
    ]
    return _xml(head, properties, "</coreProperties>")


def _xml(head: str, elements: Iterable[str], foot: str) -> bytes:
    return "\n".join([_HEAD + head, *(f"  {element}" for element in elements), foot, ""]).encode()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16].upper()

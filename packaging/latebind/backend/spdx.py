"""Writes and reads SBOMs in SPDX 2.3, where every part is a package and relationships relate it to the first one.

The time is SOURCE_DATE_EPOCH, and the namespace a UUID of the contents: equal inputs give equal bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latebind.backend.parts import Part
    from latebind.backend.sbom import Bill, Library

_DOCUMENT = "SPDXRef-DOCUMENT"
_ITSELF = "SPDXRef-Package"
_LATE = "SPDXRef-late-bound-"
_RANGE = "latebind:range "
_TOOL = "Tool: "


def spdx(bill: Bill) -> dict[str, Any]:
    """The document."""
    itself = _package(_ITSELF, bill.name, bill.version, purl=bill.purl, supplier=bill.supplier)
    itself["licenseDeclared"] = bill.license or "NOASSERTION"
    packages = [itself]
    links = [_link(_DOCUMENT, "DESCRIBES", _ITSELF)]
    for library in bill.libraries:
        packages.append(_library(library, bill))
        links.append(_link(_ITSELF, "CONTAINS", packages[-1]["SPDXID"]))
        links.extend(_link(packages[-1]["SPDXID"], "STATIC_LINK", _part_id(part)) for part in library.parts)
    links.extend(_link(_ITSELF, "STATIC_LINK", _part_id(part)) for part in bill.further)
    packages.extend(map(_part, bill.linked))
    for name, purl in bill.holders:
        id_ = _id("part", name)
        packages.append(_package(id_, name, bill.version, purl=purl, supplier=bill.supplier))
        links.append(_link(_ITSELF, "DEPENDS_ON", id_))
    for late in bill.runtimes:
        id_ = _id("late-bound", late.name)
        packages.append(_package(id_, late.name, late.plain_range, supplier=late.supplier))
        packages[-1]["summary"] = f"{late.title}, bound at run time and not included in the package."
        packages[-1]["comment"] = _RANGE + late.range
        links.append(_link(_ITSELF, "DEPENDS_ON", id_))
        links.append(_link(id_, "RUNTIME_DEPENDENCY_OF", _ITSELF))
    return _document(bill, {"packages": packages, "relationships": links})


def read_spdx(document: Mapping[str, Any]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The runtimes and tools of a document that `spdx` wrote."""
    packages = document.get("packages", ())
    creators = document.get("creationInfo", {}).get("creators", ())
    tools = (text.removeprefix(_TOOL) for text in creators if text.startswith(_TOOL))
    late = (package for package in packages if package.get("SPDXID", "").startswith(_LATE))
    ranges = ((package.get("name", ""), package.get("comment", "").removeprefix(_RANGE)) for package in late)
    return tuple(ranges), tuple(" ".join(text.split("-", 1)) for text in tools)


def _document(bill: Bill, body: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps([bill.purl, body], sort_keys=True)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": _DOCUMENT,
        "name": f"{bill.name}-{bill.version}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}",
        "creationInfo": {
            "created": bill.time,
            "creators": [
                f"Organization: {bill.supplier}",
                *(_TOOL + "-".join(term for term in tool if term) for tool in bill.tools),
            ],
        },
        **body,
    }


def _package(  # noqa: PLR0913  # what a package states
    ref: str, name: str, version: str = "", *, purl: str = "", supplier: str = "", purpose: str = "LIBRARY"
) -> dict[str, Any]:
    package: dict[str, Any] = {
        "SPDXID": ref,
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "primaryPackagePurpose": purpose,
    }
    if version:
        package["versionInfo"] = version
    if supplier:
        package["supplier"] = f"Organization: {supplier}"
    if purl:
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
        package["externalRefs"] = [reference]
    return package


def _part_id(part: Part) -> str:
    return _id("static", part.name.replace("+", "p"), part.version)


def _part(part: Part) -> dict[str, Any]:
    package = _package(_part_id(part), part.name, part.version, purl=part.purl, supplier=part.supplier)
    if part.license:
        package["licenseDeclared"] = part.license
    return package


def _library(library: Library, bill: Bill) -> dict[str, Any]:
    purpose, version = "FILE" if library.is_data else "LIBRARY", library.version or bill.version
    is_path = "/" in library.name  # several paths may have one identifier
    path_hash = hashlib.sha256(library.name.encode()).hexdigest()[:8] if is_path else ""
    id_ = _id("library", library.target, library.name, path_hash)
    package = _package(id_, library.name, version, supplier=bill.supplier, purpose=purpose)
    package["packageFileName"] = library.name
    package["checksums"] = [{"algorithm": "SHA256", "checksumValue": library.sha256}]
    origin = f", {library.floor} or newer" if library.floor else ""
    origin += f"; compiled by {library.toolchain}" if library.toolchain else ""
    package["comment"] = f"For {library.target}{origin}."
    return package


def _link(first: str, kind: str, second: str) -> dict[str, str]:
    return {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}


def _id(*parts: str) -> str:
    """An identifier, which may hold letters, digits, dots and hyphens."""
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(part for part in parts if part))

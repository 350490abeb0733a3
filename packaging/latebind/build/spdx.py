"""Writes and reads SBOMs in SPDX 2.3, where every part is a package and relationships relate it to the first one.

The time is SOURCE_DATE_EPOCH, and the namespace a UUID of the contents: equal inputs give equal bytes.
"""

from __future__ import annotations

import json
import re
import uuid
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from latebind.build.bill import Stated, name_of
from latebind.system.archive import source_date_epoch

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.build.bill import Bill, Library

_DOCUMENT = "SPDXRef-DOCUMENT"
_ITSELF = "SPDXRef-Package"
_LATE = "SPDXRef-late-bound-"
_RANGE = "latebind:range "


def spdx(bill: Bill) -> dict[str, Any]:
    """The document."""
    itself = _package(_ITSELF, name_of(bill.purl), bill.version, purl=bill.purl)
    itself["licenseDeclared"] = bill.license or "NOASSERTION"
    rows = [itself]
    links = [_link(_DOCUMENT, "DESCRIBES", _ITSELF)]
    for library in bill.libraries:
        rows.append(_library(library))
        links.append(_link(_ITSELF, "CONTAINS", rows[-1]["SPDXID"]))
    for purl in bill.parts:
        rows.append(_package(_id("part", name_of(purl)), name_of(purl), bill.version, purl=purl))
        links.append(_link(_ITSELF, "DEPENDS_ON", rows[-1]["SPDXID"]))
    for late in bill.runtimes:
        rows.append(_package(_id("late-bound", late.name), late.name))
        rows[-1]["summary"] = f"{late.title}, bound at run time and not contained."
        rows[-1]["comment"] = _RANGE + late.range
        links.append(_link(rows[-1]["SPDXID"], "RUNTIME_DEPENDENCY_OF", _ITSELF))
    for name, version in bill.tools:
        rows.append(_package(_id("tool", name, version), name, version, purpose="APPLICATION"))
        links.append(_link(rows[-1]["SPDXID"], "BUILD_TOOL_OF", _ITSELF))
    return _document(bill, {"packages": rows, "relationships": links})


def read_spdx(document: Mapping[str, Any]) -> Stated:
    """The runtimes and tools of a document that `spdx` wrote."""
    rows = document.get("packages", ())
    tools = (row for row in rows if row.get("SPDXID", "").startswith("SPDXRef-tool-"))
    late = (row for row in rows if row.get("SPDXID", "").startswith(_LATE))
    return Stated(
        ranges=tuple((row.get("name", ""), row.get("comment", "").removeprefix(_RANGE)) for row in late),
        tools=tuple(f"{row.get('name', '')} {row.get('versionInfo', '')}".strip() for row in tools),
    )


def _document(bill: Bill, body: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps([bill.purl, body], sort_keys=True)
    return {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": _DOCUMENT,
        "name": f"{name_of(bill.purl)}-{bill.version}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}",
        "creationInfo": {
            "created": datetime.fromtimestamp(source_date_epoch(), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": [f"Tool: {'-'.join(bill.tools[0])}"],
        },
        **body,
    }


def _package(ref: str, name: str, version: str = "", *, purl: str = "", purpose: str = "LIBRARY") -> dict[str, Any]:
    row: dict[str, Any] = {
        "SPDXID": ref,
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "primaryPackagePurpose": purpose,
    }
    if version:
        row["versionInfo"] = version
    if purl:
        reference = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}
        row["externalRefs"] = [reference]
    return row


def _library(library: Library) -> dict[str, Any]:
    purpose = "FILE" if library.is_data else "LIBRARY"
    row = _package(_id("library", library.target, library.name), library.name, purpose=purpose)
    row["packageFileName"] = library.name
    row["checksums"] = [{"algorithm": "SHA256", "checksumValue": library.sha256}]
    made = "" if library.is_data else f", {library.floor} or newer; compiled by {library.toolchain or 'unknown'}"
    row["comment"] = f"For {library.target}{made}."
    return row


def _link(first: str, kind: str, second: str) -> dict[str, str]:
    return {"spdxElementId": first, "relationshipType": kind, "relatedSpdxElement": second}


def _id(*parts: str) -> str:
    """An identifier, which may hold letters, digits, dots and hyphens."""
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", "-".join(part for part in parts if part))

"""Writes and reads SBOMs in CycloneDX.

1.7 is the first version that can say "not in here, and any version of this range will do" (isExternal, versionRange);
for 1.6 the range is the text of the version, and a property. The time is SOURCE_DATE_EPOCH, and the serial number a
UUID of the contents: equal inputs give equal bytes.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latebind.backend.parts import Part
    from latebind.backend.sbom import Bill, Late, Library

_LATE = "late-bound/"
_RANGE = "latebind:range"


def cyclonedx(bill: Bill, version: str) -> dict[str, Any]:
    """The document in `version`, 1.6 or 1.7."""
    outside = {"isExternal": True} if version == "1.7" else {}
    marks = {**outside, "scope": "required"}
    parts = [{**_package(name, purl, bill), **marks} for name, purl in bill.holders]
    late = [{**_late(runtime, version), **outside} for runtime in bill.runtimes]
    components = [*(_library(library, bill) for library in bill.libraries), *parts, *late]
    itself = _package(bill.name, bill.purl, bill)
    if bill.license:
        itself["licenses"] = [{"expression": bill.license}]
    document = {
        "$schema": f"http://cyclonedx.org/schema/bom-{version}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": version,
        "version": 1,
        "metadata": {
            "timestamp": bill.time,
            "lifecycles": [{"phase": bill.phase}],
            "authors": [{"name": bill.supplier}],
            "supplier": {"name": bill.supplier},
            "tools": {"components": [_tool(*tool) for tool in bill.tools]},
            "component": itself,
        },
        "components": [*components, *map(_part, bill.linked)],
        "dependencies": [
            {
                "ref": bill.purl,
                "dependsOn": sorted([*(component["bom-ref"] for component in components), *map(_ref, bill.further)]),
            },
            *(_dependency(_file_ref(library), library.parts) for library in bill.libraries),
            *({"ref": component["bom-ref"]} for component in (*parts, *late)),
            *({"ref": _ref(part)} for part in bill.linked),
        ],
    }
    text = json.dumps(document, sort_keys=True)
    return {**document, "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, text)}"}


def read_cyclonedx(document: Mapping[str, Any]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The runtimes and tools of a document that `cyclonedx` wrote."""
    ranges = []
    for part in document.get("components", ()):
        if part.get("bom-ref", "").startswith(_LATE):
            properties = {pair["name"]: pair["value"] for pair in part.get("properties", ())}
            ranges.append((part.get("name", ""), part.get("versionRange") or properties.get(_RANGE, "")))
    tools = document.get("metadata", {}).get("tools", {}).get("components", ())
    named = (f"{tool.get('name', '')} {tool.get('version', '')}".strip() for tool in tools)
    return tuple(ranges), tuple(named)


def _package(name: str, purl: str, bill: Bill) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": bill.version,
        "purl": purl,
        "supplier": {"name": bill.supplier},
    }


def _dependency(ref: str, parts: Sequence[Part]) -> dict[str, Any]:
    return {"ref": ref, **({"dependsOn": sorted(map(_ref, parts))} if parts else {})}


def _file_ref(library: Library) -> str:
    return f"{library.target}/{library.name}"


def _ref(part: Part) -> str:
    return f"part/{part.name}@{part.version}".rstrip("@")


def _part(part: Part) -> dict[str, Any]:
    fields = {"type": "library", "bom-ref": _ref(part), "name": part.name, "version": part.version, "purl": part.purl}
    component: dict[str, Any] = {key: value for key, value in fields.items() if value}
    if part.supplier:
        component["supplier"] = {"name": part.supplier}
    if part.license:
        component["licenses"] = [{"expression": part.license}]
    return component


def _library(library: Library, bill: Bill) -> dict[str, Any]:
    facts = {"floor": library.floor, "target": library.target, "toolchain": library.toolchain}
    return {
        "type": "file",
        "bom-ref": _file_ref(library),
        "name": library.name,
        "version": library.version or bill.version,
        "supplier": {"name": bill.supplier},
        "hashes": [{"alg": "SHA-256", "content": library.sha256}],
        "properties": [{"name": f"latebind:{name}", "value": value} for name, value in facts.items() if value],
    }


def _late(runtime: Late, version: str) -> dict[str, Any]:
    version_fields: dict[str, Any] = {"versionRange": runtime.range}
    if version == "1.6":
        version_fields = {
            "version": runtime.plain_range,
            "properties": [{"name": _RANGE, "value": runtime.range}],
        }
    return {
        "type": "library",
        "bom-ref": f"{_LATE}{runtime.name}",
        "name": runtime.name,
        "description": f"{runtime.title}, bound at run time and not included in the package.",
        "supplier": {"name": runtime.supplier},
        "scope": "required" if runtime.is_required else "optional",
        **version_fields,
    }


def _tool(name: str, version: str) -> dict[str, Any]:
    return {"type": "application", "name": name, **({"version": version} if version else {})}

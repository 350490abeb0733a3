"""Writes and reads SBOMs in CycloneDX.

1.7 is the first version that can say "not in here, and any version of this range will do" (isExternal, versionRange);
for 1.6 the range is a property. There is no time and no serial number: equal inputs give equal bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from latebind.build.bill import Stated, name_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.build.bill import Bill, Late, Library

_LATE = "late-bound/"
_RANGE = "latebind:range"


def cyclonedx(bill: Bill, version: str) -> dict[str, Any]:
    """The document in `version`, 1.6 or 1.7."""
    marks = {"isExternal": True, "scope": "required"} if version == "1.7" else {"scope": "required"}
    parts = [{**_package(purl, bill.version), **marks} for purl in bill.parts]
    late = [{**_late(row, version), **marks} for row in bill.runtimes]
    everything = [*map(_library, bill.libraries), *parts, *late]
    itself = _package(bill.purl, bill.version)
    if bill.license:
        itself["licenses"] = [{"expression": bill.license}]
    return {
        "$schema": f"http://cyclonedx.org/schema/bom-{version}.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": version,
        "version": 1,
        "metadata": {
            "lifecycles": [{"phase": "build"}],
            "tools": {"components": [_tool(*row) for row in bill.tools]},
            "component": itself,
        },
        "components": everything,
        "dependencies": [
            {"ref": bill.purl, "dependsOn": sorted(part["bom-ref"] for part in everything)},
            *({"ref": part["bom-ref"]} for part in everything),
        ],
    }


def read_cyclonedx(document: Mapping[str, Any]) -> Stated:
    """The runtimes and tools of a document that `cyclonedx` wrote."""
    ranges = []
    for part in document.get("components", ()):
        if part.get("bom-ref", "").startswith(_LATE):
            properties = {row["name"]: row["value"] for row in part.get("properties", ())}
            ranges.append((part.get("name", ""), part.get("versionRange") or properties.get(_RANGE, "")))
    tools = document.get("metadata", {}).get("tools", {}).get("components", ())
    named = (f"{tool.get('name', '')} {tool.get('version', '')}".strip() for tool in tools)
    return Stated(ranges=tuple(ranges), tools=tuple(named))


def _package(purl: str, version: str) -> dict[str, Any]:
    return {"type": "library", "bom-ref": purl, "name": name_of(purl), "version": version, "purl": purl}


def _library(row: Library) -> dict[str, Any]:
    facts = {"target": row.target}
    if not row.is_data:
        facts = {"floor": row.floor, **facts, "toolchain": row.toolchain}
    return {
        "type": "file",
        "bom-ref": f"{row.target}/{row.name}",
        "name": row.name,
        "hashes": [{"alg": "SHA-256", "content": row.sha256}],
        "properties": [{"name": f"latebind:{name}", "value": value} for name, value in facts.items()],
    }


def _late(row: Late, version: str) -> dict[str, Any]:
    known = {"versionRange": row.range} if version == "1.7" else {"properties": [{"name": _RANGE, "value": row.range}]}
    return {
        "type": "library",
        "bom-ref": f"{_LATE}{row.name}",
        "name": row.name,
        "description": f"{row.title}, bound at run time and not contained.",
        **known,
    }


def _tool(name: str, version: str) -> dict[str, Any]:
    return {"type": "application", "name": name, **({"version": version} if version else {})}

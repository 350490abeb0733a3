"""The JSON Schema and the reference page of the configuration, both made from the types in document.py."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from latebind.config.document import Document
from latebind.tables.presets import presets
from latebind.tables.targets import targets

SCHEMA_ID = "https://raw.githubusercontent.com/latebind/latebind/main/packaging/latebind/config/latebind.schema.json"
"""Where editors find the schema: `#:schema URL` as the first line of latebind.toml."""


def config_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of latebind.toml, for editors."""
    schema = msgspec.json.schema(Document)
    definitions: dict[str, Any] = schema["$defs"]
    table = definitions["Targets"]
    del table["properties"]["options"]
    for rid in targets():
        table["properties"][str(rid)] = {"$ref": "#/$defs/TargetOptions", "description": f"Settings of {rid} alone."}
    table["properties"]["include"]["items"]["enum"] = [str(rid) for rid in targets()]
    definitions["RuntimeUse"]["properties"]["preset"]["enum"] = ["", *presets()]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "latebind.toml",
        **schema,
    }


def tool_schema(_name: str) -> dict[str, Any]:
    """The schema of `[tool.latebind]` for validate-pyproject, which takes draft 7 alone."""
    return {**config_schema(), "$schema": "http://json-schema.org/draft-07/schema#"}


def config_schema_text() -> str:
    """The schema as it is committed."""
    return json.dumps(config_schema(), indent=2, sort_keys=True) + "\n"


def config_reference() -> str:
    """The reference page: one Markdown table for each table of the file."""
    definitions: dict[str, Any] = config_schema()["$defs"]
    lines = ["# Configuration", "", "`latebind.toml`, or `[tool.latebind]` in `pyproject.toml`.", ""]
    for name in sorted(definitions, key=lambda key: (key != "Document", key)):
        definition = definitions[name]
        required = set(definition.get("required", ()))
        lines += [f"## {name}", "", definition.get("description", ""), "", "| key | type | default | meaning |"]
        lines.append("|---|---|---|---|")
        for key, row in definition["properties"].items():
            default = "required" if key in required else f"`{json.dumps(row.get('default'))}`"
            meaning = row.get("description", "").replace("<", "&lt;")
            lines.append(f"| `{key}` | {_type(row)} | {default} | {meaning} |")
        lines.append("")
    return "\n".join(lines)


def _type(row: dict[str, Any]) -> str:  # noqa: PLR0911  # one line for each form of a type
    if "enum" in row:
        return ", ".join(f"`{value}`" for value in row["enum"])
    if "const" in row:
        return f"`{row['const']}`"
    if "$ref" in row:
        name = row["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "allOf"):
        if key in row:
            return " or ".join(_type(option) for option in row[key] if option.get("type") != "null")
    if row.get("type") == "array":
        return f"list of {_type(row['items'])}"
    if row.get("type") == "object":
        return f"table of {_type(row.get('additionalProperties', {}))}"
    return str(row.get("type", "any"))

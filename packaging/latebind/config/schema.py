"""The JSON Schema of the configuration, made from the types in document.py."""

from __future__ import annotations

from typing import Any

import msgspec

from latebind.backend.targets import targets
from latebind.config.document import Document
from latebind.config.plugin import PLUGIN_HOSTS
from latebind.tables.presets import library_files, presets

SCHEMA_ID = "https://raw.githubusercontent.com/latebind/latebind/main/docs/latebind.schema.json"
"""Where editors find the schema: `#:schema URL` as the first line of latebind.toml."""


def config_schema() -> dict[str, Any]:
    """JSON Schema (2020-12) of latebind.toml, for editors."""
    schema = msgspec.json.schema(Document)
    definitions: dict[str, Any] = schema["$defs"]
    table = definitions["Targets"]
    del table["properties"]["options"]
    for rid in targets():
        table["properties"][str(rid)] = {"$ref": "#/$defs/TargetOptions", "description": f"Settings for {rid} only."}
    table["properties"]["include"]["items"]["enum"] = [str(rid) for rid in targets()]
    definitions["RuntimeUse"]["properties"]["preset"]["enum"] = ["", *presets(), *library_files()]
    definitions["PluginConfig"]["properties"]["host"]["enum"] = list(PLUGIN_HOSTS)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "latebind.toml",
        **schema,
    }


def tool_schema(_name: str) -> dict[str, Any]:
    """The schema of `[tool.latebind]` for validate-pyproject, which accepts only draft 7."""
    return {**config_schema(), "$schema": "http://json-schema.org/draft-07/schema#"}

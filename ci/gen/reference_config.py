"""Makes the reference of the configuration from the types in document.py: its schema, and a section for each table."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from latebind.config.schema import config_schema
from latebind.tables.targets import targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PAGES: Mapping[str, tuple[str, frozenset[str]]] = {
    "configuration.md": ("Configuration", frozenset({"project", "targets", "native", "package"})),
    "configuration-runtime.md": ("Configuration of the runtime", frozenset({"runtime"})),
    "configuration-verify.md": ("Configuration of audit and verification", frozenset({"audit", "verify", "release"})),
}
"""Each page with its title and the top-level tables on it."""

_INTRODUCTION = """The configuration is in `latebind.toml`, or in `[tool.latebind]` of `pyproject.toml`. Paths are
relative to that file. Keys without a type take a string. With this first line, editors with Taplo check the file and
complete its keys:

```toml
#:schema {schema}
```
"""


def config_schema_text() -> str:
    """The schema as it is committed: a line for each key."""
    schema = config_schema()
    tables = []
    for name, table in sorted(schema.pop("$defs").items()):
        keys = [f"    {json.dumps(key)}: {_line(value)}" for key, value in sorted(table.pop("properties").items())]
        inner = ",\n".join(keys)
        tables.append(f'  {json.dumps(name)}: {_line(table)[:-1]}, "properties": {{\n{inner}\n  }}}}')
    inner = ",\n".join(tables)
    return f'{_line(schema)[:-1]}, "$defs": {{\n{inner}\n}}}}\n'


def _line(document: dict[str, Any]) -> str:
    return json.dumps(document, sort_keys=True)


def config_pages() -> dict[str, str]:
    """The pages by file name. Only the first has the introduction; each ends with a line feed."""
    schema = config_schema()
    tables = dict(_tables(schema["$defs"]))
    anchors = {name: f"{_page(path)}#{_anchor(path)}" for name, path in tables.items()}
    pages = {}
    for page, (title, _keys) in _PAGES.items():
        links = " · ".join(f"[{other}]({name})" for name, (other, _) in _PAGES.items() if name != page)
        text = [f"# {title}", "", links, ""]
        if page == "configuration.md":
            text[2:2] = [*_INTRODUCTION.format(schema=schema["$id"]).splitlines(), ""]
        for name, path in tables.items():
            if _page(path) == page:
                text += _section(path, schema["$defs"][name], anchors)
        pages[page] = "\n".join(text).rstrip() + "\n"
    return pages


def _tables(definitions: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each definition with its TOML header, in the order of the file; one that two tables use is at its first use."""
    seen: set[str] = set()

    def below(name: str, path: str) -> Iterator[tuple[str, str]]:
        for key, schema in definitions[name]["properties"].items():
            reference, form = _reference(schema)
            inner = ".".join(filter(None, (path, "RID" if key in targets() else key)))
            if reference and reference not in seen:
                seen.add(reference)
                yield reference, form.format(inner)
                yield from below(reference, form.format(inner).strip("[]"))

    yield from below("Document", "")


def _reference(schema: Mapping[str, Any]) -> tuple[str, str]:
    """The definition that a key refers to, if any, and the form of its TOML header."""
    for option in schema.get("anyOf", schema.get("allOf", ())):
        if "$ref" in option:
            schema = option
    if "$ref" in schema:
        return schema["$ref"].rpartition("/")[2], "[{}]"
    if "$ref" in schema.get("items", {}):
        return schema["items"]["$ref"].rpartition("/")[2], "[[{}]]"
    if "$ref" in schema.get("additionalProperties", {}):
        return schema["additionalProperties"]["$ref"].rpartition("/")[2], "[{}.NAME]"
    return "", ""


def _page(path: str) -> str:
    key = path.strip("[]").partition(".")[0]
    return next(name for name, (_, keys) in _PAGES.items() if key in keys)


def _anchor(path: str) -> str:
    """The anchor that GitHub and the site give to a heading."""
    return re.sub(r"[^\w -]", "", path).lower()


def _section(path: str, definition: Mapping[str, Any], anchors: Mapping[str, str]) -> list[str]:
    """A heading, what the table is for, and a row for each key."""
    required = set(definition.get("required", ()))
    lines = [f"## `{path}`", "", definition.get("description", ""), "", "| key | type | meaning |"]
    lines.append("|---|---|---|")
    by_label = {"RID" if key in targets() else key: (key, schema) for key, schema in definition["properties"].items()}
    for shown, (key, schema) in by_label.items():
        value = schema.get("default")
        default = "required" if key in required else f"default `{json.dumps(value)}`" if value else ""
        meaning = schema.get("description", "").replace(key, shown).replace("<", "&lt;")
        kind, default = (_type(schema), default) if not _reference(schema)[0] else (_link(schema, anchors), "")
        lines.append(f"| `{shown}` | {'; '.join(filter(None, (kind, default)))} | {meaning} |")
    return [*lines, ""]


def _link(schema: Mapping[str, Any], anchors: Mapping[str, str]) -> str:
    name, form = _reference(schema)
    kinds = {"[{}]": "table", "[[{}]]": "list of tables", "[{}.NAME]": "tables by name"}
    return f"[{kinds[form]}]({anchors[name]})"


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]) if value)
    if "anyOf" in schema:
        return " or ".join(_type(option) or "string" for option in schema["anyOf"])
    if schema["type"] == "array":
        return "list" if schema["items"] == {"type": "string"} else f"list of {_type(schema['items']) or 'string'}"
    if schema["type"] == "object":
        return f"table of {_type(schema['additionalProperties']) or 'string'}"
    return "" if schema["type"] == "string" else str(schema["type"])

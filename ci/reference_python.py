"""The reference page of latenn for Python: what its packages export, read from the sources by griffe, not imported."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import griffe

from ci.reference_text import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = Path(__file__).resolve().parent.parent / "latenn" / "python"
MODULES = ("latenn", "latenn.supply", "latenn_customop")
_HEAD = """\
<!-- Made by ci/docs_site.py from the sources. -->

# latenn for Python
"""
_WIDTH = 100
_NEXT = re.compile(r", (?=\*{0,2}\w+: |\*, )")
"""Before an argument; commas inside brackets part none."""


def page() -> str:
    """The page."""
    loader = griffe.GriffeLoader(search_paths=[folder / "src" for folder in sorted(PACKAGES.iterdir())])
    for package in sorted({name.partition(".")[0] for name in MODULES}):
        loader.load(package)
    loader.resolve_aliases()
    lines = [_HEAD]
    for name in MODULES:
        module = loader.modules_collection[name]
        lines += [f"## {name}", "", _prose(module), ""]
        for export in list_exports(module):
            lines += _render(module[export], name)
    return "\n".join(lines)


def list_exports(module: griffe.Object) -> list[str]:
    """The names of `__all__`."""
    return [str(name) for name in module.exports or ()]


def list_members(definition: griffe.Class) -> Iterator[griffe.Function | griffe.Attribute]:
    """The public methods, properties and typed fields of a class; of the special methods those that say something."""
    for member in definition.members.values():
        is_special = member.name.startswith("__") and member.is_function and member.has_docstring
        if member.name.startswith("_") and not is_special:
            continue
        if isinstance(member, griffe.Function) or (isinstance(member, griffe.Attribute) and member.annotation):
            yield member


def _render(export: griffe.Object | griffe.Alias, module: str) -> list[str]:
    definition = export.final_target if isinstance(export, griffe.Alias) else export
    lines = [f"### {module}.{export.name}", ""]
    if isinstance(definition, griffe.Function):
        return [*lines, *_code(_signature(definition)), _prose(definition), ""]
    assert isinstance(definition, griffe.Class)  # noqa: S101  # latenn exports nothing else
    bases = ", ".join(map(str, definition.bases))
    lines += [
        *_code(f"class {definition.name}({bases})" if bases else f"class {definition.name}"),
        _prose(definition),
        "",
    ]
    members = list(list_members(definition))
    fields = [member for member in members if isinstance(member, griffe.Attribute) and "property" not in member.labels]
    if fields:
        lines += ["| field | type | meaning |", "|---|---|---|", *map(_field, fields), ""]
    for member in members:
        if isinstance(member, griffe.Function):
            lines += [f"#### {definition.name}.{member.name}()", "", *_code(_signature(member)), _prose(member), ""]
        elif member not in fields:
            code = _code(f"{member.name}: {member.annotation}")
            lines += [f"#### {definition.name}.{member.name}", "", *code, _prose(member), ""]
    return lines


def _field(attribute: griffe.Attribute) -> str:
    meaning = " ".join(attribute.docstring.value.split()) if attribute.docstring else ""
    annotation = str(attribute.annotation).replace("|", "\\|")
    return f"| `{attribute.name}` | `{annotation}` | {meaning} |"


def _signature(function: griffe.Function) -> str:
    start = "async def" if "async" in function.labels else "def"
    line = f"{start} {function.signature()}"
    if len(line) <= _WIDTH:
        return line
    head, arguments, returns = re.split(r"(?<=\w)\(|\)(?= ->)", line)
    lines = "".join(f"    {argument},\n" for argument in _NEXT.split(arguments))
    return f"{head}(\n{lines}){returns}"


def _code(text: str) -> list[str]:
    return ["```python", text, "```", ""]


def _prose(definition: griffe.Object) -> str:
    """A docstring as Markdown: what is set in is code, sections of it are bold."""
    text = definition.docstring.value if definition.docstring else ""
    text = re.sub(r"((?:^ {4,}.*\n?|^\n(?= {4}))+)", _block, text, flags=re.MULTILINE)
    return escape_markdown(text)


def _block(match: re.Match[str]) -> str:
    return f"\n```python\n{textwrap.dedent(match[0]).strip()}\n```\n"

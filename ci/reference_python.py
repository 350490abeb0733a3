"""The reference page of latenn for Python: what its packages export, read from the sources and not imported."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from ci.reference_text import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "latenn" / "python"
MODULES = ("latenn", "latenn.supply", "latenn_customop")
_HEAD = """\
<!-- Made by ci/gen.py from the sources. -->

# latenn for Python

"""
_WIDTH = 100
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def page() -> str:
    """The page."""
    lines = [_HEAD.rstrip(), ""]
    for module in MODULES:
        tree = ast.parse(_file(module).read_text("utf-8"))
        lines += [f"## {module}", "", _prose(tree), ""]
        for name in list_exports(tree):
            lines += _render_definition(module, name, _definition(tree, module, name))
    return "\n".join(lines)


def list_exports(tree: ast.Module) -> list[str]:
    """The names of `__all__`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names: list[str] = ast.literal_eval(node.value)
            return names
    return []


def members(node: ast.ClassDef) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.AnnAssign]:
    """The public methods, properties and fields of a class; of the special methods those that say something."""
    for row in node.body:
        if isinstance(row, ast.FunctionDef | ast.AsyncFunctionDef):
            if not row.name.startswith("_") or (row.name.startswith("__") and ast.get_docstring(row)):
                yield row
        elif isinstance(row, ast.AnnAssign) and isinstance(row.target, ast.Name) and not row.target.id.startswith("_"):
            yield row


def _file(module: str) -> Path:
    package, _, rest = module.partition(".")
    folder = PACKAGES / package / "src" / package
    return folder / f"{rest}.py" if rest else folder / "__init__.py"


def _definition(tree: ast.Module, module: str, name: str) -> Definition:
    """Where a name is defined: here, or in the module that it is imported from."""
    for node in tree.body:
        if isinstance(node, Definition) and node.name == name:
            return node
        if isinstance(node, ast.ImportFrom) and node.module and any(row.name == name for row in node.names):
            return _definition(ast.parse(_file(node.module).read_text("utf-8")), node.module, name)
    raise SystemExit(f"{module} exports {name}, which is defined nowhere")


def _render_definition(module: str, name: str, node: Definition) -> list[str]:
    if not isinstance(node, ast.ClassDef):
        return [f"### {module}.{name}", "", *_code(_signature(node, name)), _prose(node), ""]
    bases = ", ".join(ast.unparse(base) for base in node.bases)
    head = f"class {name}({bases})" if bases else f"class {name}"
    lines = [f"### {module}.{name}", "", *_code(head), _prose(node), ""]
    rows = list(members(node))
    fields = [row for row in rows if isinstance(row, ast.AnnAssign)]
    if fields:
        lines += ["| field | type | meaning |", "|---|---|---|", *(_field(node, row) for row in fields), ""]
    for row in rows:
        if isinstance(row, ast.AnnAssign):
            continue
        is_property = "property" in {ast.unparse(decorator) for decorator in row.decorator_list}
        code = _code(_signature(row, row.name, is_property=is_property))
        lines += [f"#### {name}.{row.name}{'' if is_property else '()'}", "", *code, _prose(row), ""]
    return lines


def _field(node: ast.ClassDef, row: ast.AnnAssign) -> str:
    after = node.body[node.body.index(row) + 1 :][:1]
    value = after[0].value if after and isinstance(after[0], ast.Expr) else None
    words = str(value.value) if isinstance(value, ast.Constant) else ""
    kind = ast.unparse(row.annotation).replace("|", "\\|")
    return f"| `{ast.unparse(row.target)}` | `{kind}` | {' '.join(words.split())} |"


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str, *, is_property: bool = False) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if is_property:
        return f"{name}: {ast.unparse(node.returns)}" if node.returns else name
    start = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    line = f"{start} {name}({ast.unparse(node.args)}){returns}"
    if len(line) <= _WIDTH:
        return line
    rows = "".join(f"    {row},\n" for row in _arguments(ast.unparse(node.args)))
    return f"{start} {name}(\n{rows}){returns}"


def _arguments(text: str) -> list[str]:
    """The arguments of a signature; commas inside brackets part none."""
    rows, depth = [""], 0
    for char in text:
        depth += (char in "[(") - (char in ")]")
        if char == "," and depth == 0:
            rows.append("")
        else:
            rows[-1] += char
    return [row.strip() for row in rows]


def _code(text: str) -> list[str]:
    return ["```python", text, "```", ""]


def _prose(node: ast.Module | Definition) -> str:
    """A docstring as Markdown: what is set in is code, sections of it are bold."""
    text = inspect.cleandoc(ast.get_docstring(node) or "")
    text = re.sub(r"((?:^ {4,}.*\n?|^\n(?= {4}))+)", _block, text, flags=re.MULTILINE)
    return escape_markdown(text)


def _block(match: re.Match[str]) -> str:
    return f"\n```python\n{textwrap.dedent(match[0]).strip()}\n```\n"

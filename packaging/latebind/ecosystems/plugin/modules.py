"""Reads the Python modules of a plugin, which are untrusted, without running them."""

from __future__ import annotations

import ast
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from loadcheck.readers.opened import parse_python

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents

_MAX_MODULE = 1 << 20


@lru_cache(maxsize=1)
def parse_module(text: bytes) -> ast.Module | None:
    """The syntax tree of a module, None when it is empty or cannot be parsed. Several checks ask for the same one."""
    return parse_python(text) if text and len(text) <= _MAX_MODULE else None


def find_constants(package: Contents, inner: str, form: re.Pattern[str]) -> list[str]:
    """The string constants of a module that have a form, sorted."""
    tree = parse_module(package.texts.get(inner, b""))
    nodes = ast.walk(tree) if tree else iter(())
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted(text for text in texts if form.fullmatch(text))


def list_defined_names(node: ast.AST) -> list[str]:
    """The names that a statement defines, with "*" for an import of everything."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.ImportFrom):
        return [alias.asname or alias.name for alias in node.names]
    if isinstance(node, ast.Assign):
        return [assigned.id for assigned in node.targets if isinstance(assigned, ast.Name)]
    return []

"""A change of one file, and the change with which a package opens the runtime before it calls the stub."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_LOAD = """\
from ._runtime import load_runtime

load_runtime()  # before a module that links the stub calls it
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file before (None: it is not there) and after."""

    path: Path
    before: str | None
    after: str

    @property
    def is_own(self) -> bool:
        """Whether the project already has this file, so that only --apply changes it."""
        return self.before is not None


def load_before_others(package: Path) -> Change:
    """The change of a package's __init__.py that opens the runtime for the stub."""
    path = package / "__init__.py"
    text = path.read_text("utf-8", "surrogateescape")
    return Change(path=path, before=text, after=load_first(text))


def load_first(text: str) -> str:
    """The text of a package's __init__.py that opens the runtime for a stub before it imports anything else.

    The text itself if it does so already, or if it is not valid Python.
    """
    try:
        statements = ast.parse(text).body
    except SyntaxError:
        return text
    if "load_runtime" in text:
        return text
    future = [number for number, node in enumerate(statements, 1) if getattr(node, "module", "") == "__future__"]
    above = statements[: max([*future, int(ast.get_docstring(ast.Module(statements, [])) is not None)])]
    end = above[-1].end_lineno if above else 0
    lines = text.splitlines(keepends=True)
    rest = "".join(lines[end:]).lstrip("\n")
    return "".join([*lines[:end], "\n" if above else "", _LOAD, "\n" if rest else "", rest])

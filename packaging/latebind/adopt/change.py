"""A change of one file, shown as an exact diff, and how a package opens the runtime before it calls the stub."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.errors import InputError
from loadcheck.archive import write_text
from loadcheck.text import printable

if TYPE_CHECKING:
    from pathlib import Path

_LOAD = """\
from ._runtime import load_runtime

load_runtime()  # before a module that links the stub calls it
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFile:
    """A file that is not there yet, and its text."""

    path: Path
    text: str

    def render_diff(self, root: Path) -> str:
        """The file as a unified diff that `git apply` accepts."""
        name = self.path.relative_to(root).as_posix()
        lines = difflib.unified_diff([], self.text.splitlines(keepends=True), "/dev/null", f"b/{name}")
        return printable("".join(lines), kept="\n\t")

    def write(self) -> None:
        """Write the file. Raises InputError if it is there by now."""
        if self.path.exists():
            raise InputError("was written meanwhile", where=str(self.path), advice="Run latebind init again.")
        write_text(self.path, self.text)


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

"""A file that is to be written, shown as an exact diff."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.errors import InputError
from loadcheck.archive import write_text
from loadcheck.text import printable

if TYPE_CHECKING:
    from pathlib import Path


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

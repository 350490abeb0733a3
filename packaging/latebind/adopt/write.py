"""Shows changes as exact diffs and writes them; a file that changed since it was read is left as it is."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from latebind.errors import InputError
from loadcheck.archive import replacing
from loadcheck.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from latebind.adopt.change import Change


def render_diff(change: Change, root: Path) -> str:
    """A change as a unified diff that `git apply` accepts."""
    name = change.path.relative_to(root).as_posix()
    before = (change.before or "").splitlines(keepends=True)
    old = f"a/{name}" if change.before is not None else "/dev/null"
    diff_lines = difflib.unified_diff(before, change.after.splitlines(keepends=True), old, f"b/{name}")
    text = "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in diff_lines)
    return printable(text, kept="\n\t")


def write(changes: Iterable[Change]) -> list[Path]:
    """Write each change to a temporary file and rename it. Raises InputError before that if a file was changed."""
    pending = list(changes)
    for change in pending:
        now = change.path.read_bytes() if change.path.exists() else None
        then = None if change.before is None else _bytes(change.before)
        if now != then:
            raise InputError("was changed meanwhile", where=str(change.path), advice="Run latebind init again.")
    for change in pending:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(change.path) as aside:
            aside.write_bytes(_bytes(change.after))
    return [change.path for change in pending]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")

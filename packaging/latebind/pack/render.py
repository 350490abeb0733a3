"""Renders the result of `latebind pack` for the console, as JSON and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from latebind.formats import find_format
from latebind.model import Artifact, NotMade
from latebind.system.log import LOG
from latebind.text import human_size

if TYPE_CHECKING:
    from latebind.pack.make import PackResult
    from latebind.pack.record import Losses


def to_console(packed: PackResult, folder: str) -> str:
    """A line for each package with its size, with `--verbose` its SHA-256, and one for each that was not made."""
    width = max((len(_place(row)) for row in packed.artifacts), default=0)
    lines = [f"{folder}/{_place(row):{width}}  {human_size(row.size):>8}" for row in packed.artifacts]
    if LOG.level == "verbose":
        lines = [f"{line}  {row.sha256}" for line, row in zip(lines, packed.artifacts, strict=True)]
    return "".join(f"{line}\n" for line in [*lines, *(not_made(row) for row in packed.not_made)])


def to_json(packed: PackResult) -> str:
    """The result as JSON; `made_from` names the stages and the beginning of their keys."""
    rows = [
        {
            "file": _place(row),
            "kind": row.kind,
            "size": row.size,
            "sha256": row.sha256,
            "made_from": list(row.made_from),
        }
        for row in packed.artifacts
    ]
    return json.dumps({"packages": rows, "not_made": [asdict(row) for row in packed.not_made]}, indent=1) + "\n"


def to_markdown(packed: PackResult) -> str:
    """The result as Markdown, for a job summary or the description of a release."""
    lines = ["# Packages", "", "| package | kind | bytes | SHA-256 |", "| --- | --- | ---: | --- |"]
    lines += [f"| `{_place(row)}` | {row.kind} | {row.size} | `{row.sha256}` |" for row in packed.artifacts]
    lines += ["", *(f"- {not_made(row)}" for row in packed.not_made)] if packed.not_made else []
    return "\n".join(lines) + "\n"


def not_made(row: NotMade) -> str:
    """One package that was not made, in a sentence."""
    return f"not made: {row.kind} of {row.package}: {row.reason}: {row.message}"


def describe_losses(losses: Losses, included: Sequence[str]) -> list[str]:
    """A line for each file that packing removed from dist/ and each narrowed package, and the command for all targets.

    The command cannot pack a target that is not `included` in the project.
    """
    lines = [f"removed from dist/: {', '.join(losses.files)}"] if losses.files else []
    lines += [f"{name} no longer contains {', '.join(rids)}" for name, rids in losses.targets.items()]
    could_return = not set(included).isdisjoint(losses.whole_targets)
    return [*lines, "  To pack every target: latebind pack --target all"] if could_return else lines


def _place(row: Artifact) -> str:
    """The place of a file below dist/."""
    form = find_format(row.path.name)
    return f"{form.folder}/{row.path.name}" if form and form.folder else row.path.name

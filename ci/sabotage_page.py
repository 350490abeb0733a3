"""Renders docs/sabotage.md from docs/sabotage.json and the checks' own titles; breaks nothing.

`python ci/gen.py` calls it, so that page and data cannot differ.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "docs" / "sabotage.json"
_STAGES = ("install", "load", "inference")
_INTRODUCTION = """# Packages broken on purpose, and which layer catches it

latenn's packages are built, and then broken, one way at a time, by [the table in ci/broken](../ci/broken/table.py).
Every layer is run over each of them, also when an earlier one objects:

- **audit**: `latebind audit` with the project's policy. Errors are **bold**; warnings are shown and do not
  stop a release, notes (*in italics*) count for nothing here;
- **install**: the installer fails, or `dotnet` while it restores and builds;
- **load**: nothing can be loaded, something comes from a wrong place, or the process dies;
- **inference**: numbers are wrong, or too few of the cases are computed.

An empty cell says that this layer saw nothing wrong. A layer after the one that failed was not reached: *install* says
nothing of what a load would have shown. `python ci/sabotage.py --write` makes this page anew; a way that no layer
catches fails it.
"""


def outputs() -> dict[str, str]:
    """The page, by its path in the repository."""
    return {"docs/sabotage.md": render(json.loads(RESULT.read_text("utf-8")))}


def render(document: Mapping[str, Any]) -> str:
    """The page of that document."""
    ways: Sequence[Mapping[str, Any]] = document["ways"]
    broken = [row for row in ways if row["name"] != "control"]
    caught = sum(bool(row["layers"]) for row in broken)
    warned = sum(row["layers"] == ["audit"] and "error" not in row["audit"].values() for row in broken)
    versions = ", ".join(f"{name} {version}" for name, version in document["versions"].items())
    counts = ", ".join(f"{layer} {sum(layer in row['layers'] for row in broken)}" for layer in ("audit", *_STAGES))
    parts = [
        _INTRODUCTION,
        f"**{caught} of {len(broken)} are caught** ({counts}), {warned} by warnings alone. Run with {versions}.\n",
        _table(("what is wrong", "audit", "wheel", "nupkg"), [_row(row) for row in ways]),
        _elsewhere(broken),
    ]
    return "\n".join(part for part in parts if part)


def _row(way: Mapping[str, Any]) -> tuple[str, ...]:
    return (f"{way['title']} (`{way['name']}`)", _codes(way["audit"]), _cell(way["wheel"]), _cell(way["nupkg"]))


def _codes(found: Mapping[str, str]) -> str:
    links = {code: f"[{code}](checks/{code}.md)" for code in found}
    marks = {"error": "**", "warning": "", "note": "*"}
    return " ".join(f"{marks[severity]}{links[code]}{marks[severity]}" for code, severity in found.items())


def _cell(said: str) -> str:
    if said == "passed":
        return ""
    return f"**{said}**" if said in _STAGES else "*not run*" if said.startswith("not run") else f"*{said}*"


def _elsewhere(ways: Iterable[Mapping[str, Any]]) -> str:
    """Why something was not run."""
    rows = [
        f"- `{way['name']}`: {reason.removeprefix('not run: ')} (it concerns {way['target']})\n"
        for way in ways
        if (reason := next((way[kind] for kind in ("wheel", "nupkg") if way[kind].startswith("not run")), ""))
    ]
    return f"*Not run*, and so not shown to pass:\n\n{''.join(rows)}" if rows else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

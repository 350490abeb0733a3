"""Renders the site's page sabotage.md from tests/support/broken/caught.toml, the table of what each layer catches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tests.support.broken.layers import STAGES, Caught
from tests.support.broken.table import WAYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
RESULT = ROOT / "tests" / "support" / "broken" / "caught.toml"
_HEAD = """# Which layer catches each way of breaking packages, by `python -m tests.support.broken.sabotage --write`.
# `audit` has the codes and their severity; the others the stage that fails, "passed", or why nothing ran.
"""
_INTRODUCTION = """# Deliberately broken packages

latenn's packages are built and then broken in one way at a time
([the table of ways](../tests/support/broken/table.py)).
Every layer runs over each of them, even when an earlier layer already failed:

- **audit**: `latebind audit` with the project's policy. Errors are **bold**. Warnings don't stop a release; notes (*in
  italics*) count for nothing here.
- **install**: the installer fails, or `dotnet` while it restores and builds.
- **load**: nothing can be loaded, something is loaded from a wrong place, or the process dies.
- **inference**: numbers are wrong, or too few test cases run.

An empty field means that the layer saw nothing wrong. Each way has only those packages that it is about, and SDK
archives are audited without test cases here. Layers after the one that failed did not run.
`python -m tests.support.broken.sabotage --write` measures the table again, and fails if no layer catches one of the
ways.
"""


def read_measurements() -> dict[str, Caught]:
    """The table, by the name of the way."""
    return msgspec.toml.decode(RESULT.read_bytes(), type=dict[str, Caught])


def table_text(results: Mapping[str, Caught]) -> str:
    """The table as TOML, one line a way."""
    lines = [f"{name} = {_inline(msgspec.to_builtins(result))}" for name, result in results.items()]
    return "\n".join([_HEAD, *lines, ""])


def _inline(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{key} = {_inline(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return msgspec.json.encode(value).decode()


def page() -> str:
    """The page, by the table alone."""
    return render(read_measurements())


def render(results: Mapping[str, Caught]) -> str:
    """The page of that table."""
    broken = {name: result for name, result in results.items() if name != "control"}
    caught = sum(bool(result.layers) for result in broken.values())
    warned = sum(result.layers == ["audit"] and "error" not in result.audit.values() for result in broken.values())
    hygiene = sum(result.is_hygiene for result in WAYS if result.name in results)
    counts = ", ".join(
        f"{layer} {sum(layer in result.layers for result in broken.values())}" for layer in ("audit", *STAGES)
    )
    lines = [
        (f"{way.title} (`{way.name}`)", _codes(results[way.name].audit), *map(_field, results[way.name].runs))
        for way in WAYS
        if way.name in results
    ]
    summary = (
        f"**{caught} of {len(broken)} are caught** ({counts}), {warned} by warnings alone. "
        f"The other {hygiene} hurt nobody, and the audit has a note about each.\n"
    )
    parts = [
        _INTRODUCTION,
        summary,
        _table(("what is wrong", "audit", "wheel", "nupkg", "npm"), lines),
        _elsewhere(broken),
    ]
    return "\n".join(part for part in parts if part)


def _codes(severities: Mapping[str, str]) -> str:
    marks = {"error": "**", "warning": "", "note": "*"}
    return " ".join(
        f"{marks[severity]}[{code}](checks/index.md){marks[severity]}" for code, severity in severities.items()
    )


def _field(result: str) -> str:
    if result == "passed":
        return ""
    return f"**{result}**" if result in STAGES else "*not run*" if result.startswith("not run") else f"*{result}*"


def _elsewhere(results: Mapping[str, Caught]) -> str:
    """Why something was not run."""
    targets = {way.name: way.target for way in WAYS}
    lines = [
        f"- `{name}`: {reason.removeprefix('not run: ')} ({targets[name]} only)\n"
        for name, caught in results.items()
        if (reason := next((result for result in caught.runs if result.startswith("not run")), ""))
    ]
    return f"*Not run*, and so not shown to pass:\n\n{''.join(lines)}" if lines else ""


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *body]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

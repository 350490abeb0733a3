"""Renders docs/truth.md from the verdicts of ci/truth.py."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
WHEELS = ROOT / "docs" / "truth" / "wheels.toml"
PAGE = ROOT / "docs" / "truth.md"
_SYSTEMS = ("Linux", "macOS", "Windows")
_INTRODUCTION = """# Published packages, audited

What `latebind audit` finds in wheels that other projects publish, with the rules for any package and all presets. A
verdict means that a rule is broken, not that the package fails: torchvision, for one, needs libraries that `import
torch` has loaded before.

`python ci/truth.py` audits [the pinned wheels](truth/wheels.toml) and writes this page. `python ci/truth.py --confirm`
checks the verdicts with other tools: [the evidence](truth/evidence.toml) names the commands and what they show.

Errors are **bold**, warnings plain, notes in *italics*; each wheel counts by its most severe finding of a code.
"""


def render(document: Mapping[str, Any]) -> str:
    """The page of these verdicts."""
    wheels: Sequence[Mapping[str, Any]] = document["wheels"]
    remarks: Mapping[str, str] = msgspec.toml.decode(WHEELS.read_bytes())["remarks"]
    projects = sorted({wheel["project"] for wheel in wheels})
    about = [f"- **{project}**: {remarks[project]}\n" for project in projects]
    return "\n".join(
        [_INTRODUCTION, _summary(projects, wheels), "## Codes\n", _codes(wheels), "## Projects\n", "".join(about)]
    )


def _summary(projects: Iterable[str], wheels: Sequence[Mapping[str, Any]]) -> str:
    by_place = {(wheel["project"], wheel["system"]): wheel for wheel in wheels}
    rows = []
    for project in projects:
        found = [by_place.get((project, system)) for system in _SYSTEMS]
        rows.append((project, *(_field(wheel) for wheel in found)))
    return _table(("project", *_SYSTEMS), rows)


def _field(wheel: Mapping[str, Any] | None) -> str:
    if wheel is None:
        return "no wheel"
    return " ".join(_marked(row["code"], _severity(row)) for row in _sorted(wheel["verdicts"])) or "nothing"


def _codes(wheels: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(row["code"] for wheel in wheels for row in wheel["verdicts"])
    return _table(("code", "wheels"), [(f"[{code}](checks/index.md)", str(counts[code])) for code in sorted(counts)])


def _severity(verdict: Mapping[str, Any]) -> str:
    severity: str = next(iter(verdict["counts"]))
    return severity


def _sorted(verdicts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    order = ("error", "warning", "note")
    return sorted(verdicts, key=lambda row: (order.index(_severity(row)), row["code"]))


def _marked(code: str, severity: str) -> str:
    mark = {"error": "**", "warning": "", "note": "*"}[severity]
    return f"{mark}{code}{mark}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

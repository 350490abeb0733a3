"""Renders docs/truth.md from docs/truth.json, the evidence and the checks' own titles; audits nothing.

`python ci/gen.py` calls it, so that page and data cannot differ.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import evidence
import msgspec
from latebind.audit.registry import checks

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
WHEELS = ROOT / "docs" / "truth" / "wheels.toml"
RESULT = ROOT / "docs" / "truth.json"
_SYSTEMS = ("Linux", "macOS", "Windows")
_WIDTH = 150
_INTRODUCTION = """# What the audit says of published packages

This table says what `latebind audit` finds in wheels that other projects publish, and what other tools show of the
same files. `python ci/truth.py` makes it anew from [the pinned wheels](truth/wheels.toml),
`python ci/truth.py --confirm` runs the commands of [the evidence](truth/evidence.toml) again.

A verdict says that a rule is broken, not that the package fails: torchvision, for one, needs libraries that `import
torch` has loaded before. The rules are those for packages of anybody, with all presets.

## Summary

Errors are **bold**, warnings plain, notes in *italics*; each wheel counts by its weightiest finding of a code.
"""
_ABOUT = """The evidence is of the first and weightiest finding of each code in a wheel, for LB107 of all libraries that
its file lacks. What a command shows is a part of a line of its output, blanks counted as one; what it does *not* show
is in no line of it. A code after *clear of* was looked for by the same means and is rightly not reported.
"""


def outputs() -> dict[str, str]:
    """The page, by its path in the repository."""
    return {"docs/truth.md": render(json.loads(RESULT.read_text("utf-8")), evidence.rows())}


def render(document: Mapping[str, Any], found: Sequence[evidence.Evidence]) -> str:
    """The page of that document with that evidence."""
    wheels: Sequence[Mapping[str, Any]] = document["wheels"]
    remarks: Mapping[str, str] = msgspec.toml.decode(WHEELS.read_bytes())["remarks"]
    projects = sorted({wheel["project"] for wheel in wheels})
    parts = [_INTRODUCTION, _summary(projects, wheels), "## Codes\n", _codes(wheels), "## Evidence\n"]
    parts.append(_ABOUT)
    for project in projects:
        parts += [f"### {project}\n", f"{remarks[project]}\n"]
        for wheel in sorted((row for row in wheels if row["project"] == project), key=_place):
            parts.append(_section(wheel, [row for row in found if row.wheel == wheel["file"]]))
    return "\n".join(parts)


def _summary(projects: Iterable[str], wheels: Sequence[Mapping[str, Any]]) -> str:
    by_place = {(wheel["project"], wheel["system"]): wheel for wheel in wheels}
    rows = []
    for project in projects:
        found = [by_place.get((project, system)) for system in _SYSTEMS]
        rows.append((f"[{project}](#{project})", *(_cell(wheel) for wheel in found)))
    return _table(("project", *_SYSTEMS), rows)


def _cell(wheel: Mapping[str, Any] | None) -> str:
    if wheel is None:
        return "no wheel"
    return " ".join(_marked(row["code"], _severity(row)) for row in _sorted(wheel["verdicts"])) or "nothing"


def _codes(wheels: Sequence[Mapping[str, Any]]) -> str:
    counts = Counter(row["code"] for wheel in wheels for row in wheel["verdicts"])
    known = checks()
    rows = [(f"[{code}](checks/{code}.md)", known[code].title, str(counts[code])) for code in sorted(counts)]
    return _table(("code", "what it finds", "wheels"), rows)


def _section(wheel: Mapping[str, Any], found: Sequence[evidence.Evidence]) -> str:
    rows = []
    for verdict in _sorted(wheel["verdicts"]):
        counts = ", ".join(f"{count} {severity}{'s' * (count > 1)}" for severity, count in verdict["counts"].items())
        said = f"{_code(verdict['subject'])} {_text(verdict['message'])}".strip()
        rows.append(
            (_marked(verdict["code"], _severity(verdict)), counts, said, _proofs(verdict["code"], found, "found"))
        )
    clear = sorted({row.code for row in found if row.verdict == "clear"})
    rows += [(f"clear of {code}", "", "", _proofs(code, found, "clear")) for code in clear]
    title = f"#### {wheel['project']} {wheel['version']}, {wheel['system']}\n\n`{wheel['file']}`\n"
    return f"{title}\n{_table(('code', 'found', 'the first of them', 'confirmed by'), rows)}"


def _proofs(code: str, found: Sequence[evidence.Evidence], verdict: str) -> str:
    return "<br>".join(_proof(row) for row in found if row.code == code and row.verdict == verdict)


def _proof(row: evidence.Evidence) -> str:
    values = {"{files}": [Path(name).name for name in row.files], "{wheel}": ["WHEEL"]}
    words = " ".join(value for word in row.command for value in values.get(word, [word]))
    parts = [f"shows {', '.join(map(_code, row.shows))}"] if row.shows else []
    parts += [f"does *not* show {', '.join(map(_code, row.lacks))}"] if row.lacks else []
    return f"{_code(words)} {' and '.join(parts)}"


def _severity(verdict: Mapping[str, Any]) -> str:
    severity: str = next(iter(verdict["counts"]))
    return severity


def _sorted(verdicts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    order = ("error", "warning", "note")
    return sorted(verdicts, key=lambda row: (order.index(_severity(row)), row["code"]))


def _marked(code: str, severity: str) -> str:
    mark = {"error": "**", "warning": "", "note": "*"}[severity]
    return f"{mark}{code}{mark}"


def _place(wheel: Mapping[str, Any]) -> int:
    return _SYSTEMS.index(wheel["system"])


def _code(text: str) -> str:
    return f"`{_short(text).replace('|', chr(92) + '|')}`" if text else ""


def _text(text: str) -> str:
    """Words for a table's cell: nothing in them is markup."""
    return "".join(f"\\{char}" if char in "*_`|<>[]\\" else char for char in _short(text))


def _short(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 3]}..."


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)

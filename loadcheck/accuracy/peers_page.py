"""Renders compare.md of the site: what other tools and latebind report on the census's wheels, and why they differ."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from accuracy import census, peers

from loadcheck.engine.catalog import own_checks
from loadcheck.model import SEVERITIES
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_UNREAD = ("failed", "not finished")
_VC = r"(?:vcruntime|msvcp|msvcr|vcomp|concrt|mfc)\d\w*\.dll"
_INTRODUCTION = """# Other tools on the same wheels

The wheels of [the census](census.md), read by auditwheel, delocate, delvewheel, abi3audit and check-wheel-contents
(2026-11-22, [versions](../loadcheck/accuracy/peers.txt)) and by `latebind audit`, with all checks.
`python -m accuracy.peers` writes [the table](../loadcheck/accuracy/census.csv): a row for each wheel, and a column for
each tool, empty if it is not made for it.

In the tables, a wheel counts once per row. The last columns are the wheels on which latebind reports a related code as
an error or warning, only as a note, or not at all.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Something that another tool reports, latebind's codes for it, and why the two differ."""

    tool: str
    pattern: str
    title: str
    codes: tuple[str, ...] = ()
    is_failure: bool = False
    """Whether a package with it fails for someone on its tags."""
    is_unfounded: bool = False
    """Whether each wheel on which latebind reports nothing was read by hand, and the other tool is wrong."""
    why: str


DIFFERENCES = (
    Difference(
        tool="auditwheel", pattern="^needs ", title="The tag promises an older system",
        is_failure=True,
        codes=("LB301", "LB304", "LB307"),
        why="The same rule. A plain `linux` tag is LB307. Where newer parts are optional, latebind reports a note.",
    ),
    Difference(
        tool="auditwheel", pattern="no tag fits", title="No tag fits",
        is_failure=True, codes=("LB107", "LB301", "LB304"),
        why="auditwheel reads one wheel, so libraries of `torch` or `PyQt6-Qt6` count as missing. latebind reads "
        "`Requires-Dist`: what a dependency or a driver installs is a note.",
    ),
    Difference(
        tool="auditwheel", pattern="unsupported_isa", title="Instructions beyond the base x86-64",
        is_failure=True, codes=("LB118",),
        why="The same rule, as a warning: processors of the level load the file.",
    ),
    Difference(
        tool="delocate-wheel", pattern="not found", title="Library not found",
        is_failure=True, codes=("LB107",),
        why="The same rule. delocate, too, does not know libraries of dependencies.",
    ),
    Difference(
        tool="delocate-wheel", pattern="needs macOS", title="The tag promises an older macOS",
        is_failure=True, codes=("LB308", "LB302"),
        why="The same rule.",
    ),
    Difference(
        tool="delocate-wheel", pattern="architecture", title="Architecture missing", codes=("LB303",),
        why="delocate asks every library for each architecture. latebind accepts one file for each.",
    ),
    Difference(
        tool="delvewheel", pattern=_VC, title="Visual C++ run-time library not found",
        is_failure=True, codes=("LB111", "LB112"),
        why="The same rule. latebind reports a note for the two DLLs that CPython installs.",
    ),
    Difference(
        tool="delvewheel", pattern=rf"not found: (?:{_VC}(?:, |;|$))*(?!{_VC})\w", title="Other DLL not found",
        is_failure=True, is_unfounded=True,
        codes=("LB107",),
        why="delvewheel searches the DLL's folder and PATH, so it misses `ortools/.libs` and kivy-deps. latebind "
        "reads `Requires-Dist`, and accepts a DLL anywhere in the wheel, since "
        "`os.add_dll_directory()` can add its folder, and Windows' own DLLs that delvewheel does not list.",
    ),
    Difference(
        tool="abi3audit", pattern="not in the stable ABI", title="Name outside the stable ABI", codes=("LB309",),
        why="latebind accepts names that another library of the wheel or a dependency defines (shiboken does). "
        "Names that every CPython has so far are a warning.",
    ),
    Difference(
        tool="abi3audit", pattern="needs Python", title="Name newer than the tag", codes=("LB309",),
        why="The same rule.",
    ),
    Difference(
        tool="check-wheel-contents", pattern="W001", title="Bytecode (W001)", codes=("LB609",), why="The same rule.",
    ),
    Difference(
        tool="check-wheel-contents", pattern="W002", title="Same bytes twice (W002)",
        why="Taste: equal `__init__.py`, licenses and headers. Equal libraries take space, and load.",
    ),
    Difference(
        tool="check-wheel-contents", pattern="W00[34567]", title="Not importable, or no package (W003-W007)",
        codes=("LB408",),
        why="Taste or false: libraries in `scipy.libs` and templates count as modules there. Wheels of programs "
        "and DLLs have no Python code on purpose.",
    ),
    Difference(
        tool="check-wheel-contents", pattern="W008", title="Empty wheel (W008)", codes=("LB408",),
        why="**latebind misses it**: the wheel is a placeholder that installs nothing (dotenvx 0.0.0).",
    ),
    Difference(
        tool="check-wheel-contents", pattern="W009|W010", title="Several or odd top folders (W009, W010)",
        codes=("LB408",),
        why="Taste: `numpy.libs` and a second package are normal. latebind reports folders of tests and native files "
        "at the root.",
    ),
    Difference(
        tool="check-wheel-contents", pattern="invalid wheel", title="Refused as invalid",
        codes=("LB501", "LB502", "LB503"),
        why="It refuses `.data/platlib` in a wheel that is itself platlib. Installers accept it.",
    ),
)  # fmt: skip


def page() -> str:
    """The page, by the tables alone."""
    wheels = census.read_table()
    ours = of_latebind(wheels)
    read_note = f"{len(ours)} of the census's {len(wheels)} wheels were read."
    parts = [_INTRODUCTION, read_note, _tools(wheels), _recall(wheels, ours)]
    parts += ["## What the others report", _theirs(wheels, ours)]
    parts += ["## Errors that no other tool reports", _alone(wheels)]
    parts += ["## What only latebind has rules for", _only(ours)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def of_latebind(wheels: Sequence[census.Wheel]) -> dict[str, dict[str, str]]:
    """Of each wheel that was read, latebind's codes with their severities."""
    pairs = ((wheel.file, wheel.reports.get("latebind", "not run")) for wheel in wheels)
    return {file: _codes(text) for file, text in pairs if not text.startswith("not run")}


def recall(wheels: Sequence[census.Wheel], ours: Mapping[str, Mapping[str, str]]) -> tuple[int, int, int]:
    """How many reports of other tools mean that a wheel fails for someone; of these, latebind's worse and its notes."""
    worst: Counter[str] = Counter()
    for difference in (difference for difference in DIFFERENCES if difference.is_failure):
        counts = Counter(_worst(ours.get(file, {}), difference.codes) for file in _files(wheels, difference))
        if difference.is_unfounded:
            del counts[""]
        worst += counts
    return worst.total(), worst["error"] + worst["warning"], worst["note"]


def _files(wheels: Sequence[census.Wheel], difference: Difference) -> set[str]:
    return {wheel.file for wheel in wheels if re.search(difference.pattern, wheel.reports.get(difference.tool, ""))}


def _recall(wheels: Sequence[census.Wheel], ours: Mapping[str, Mapping[str, str]]) -> str:
    count, heavy, notes = recall(wheels, ours)
    return (
        f"By auditwheel, delocate and delvewheel, a wheel fails for someone on its tags in {count} cases; reports that "
        f"reading the wheel by hand refutes are left out. latebind reports {heavy + notes} of them "
        f"({(heavy + notes) / count:.0%}): {heavy} as an error or warning, {notes} as a note."
    )


def _tools(wheels: Sequence[census.Wheel]) -> str:
    lines = ["| tool | wheels read | with a report | not finished or failed |", "|---|---|---|---|"]
    for name in (*(tool.name for tool in peers.TOOLS), "latebind"):
        texts = [wheel.reports[name] for wheel in wheels if name in wheel.reports]
        texts = [text for text in texts if not text.startswith("not run")]
        failed = [text for text in texts if text.startswith(_UNREAD)]
        lines.append(f"| {name} | {len(texts)} | {sum(map(bool, texts)) - len(failed)} | {len(failed)} |")
    return "\n".join(lines)


def _theirs(wheels: Sequence[census.Wheel], ours: Mapping[str, Mapping[str, str]]) -> str:
    lines = ["| tool | reports | wheels | error or warning | note | nothing | why |", "|---|---|---|---|---|---|---|"]
    for difference in DIFFERENCES:
        files = _files(wheels, difference)
        if not files:
            continue
        worst = Counter(_worst(ours.get(file, {}), difference.codes) for file in files)
        codes = f" ({', '.join(difference.codes)})" if difference.codes else ""
        heavy = worst["error"] + worst["warning"]
        counts = f"{len(files)} | {heavy} | {worst['note']} | {worst['']}"
        lines.append(f"| {difference.tool} | {difference.title}{codes} | {counts} | {difference.why} |")
    return "\n".join(lines)


def _alone(wheels: Sequence[census.Wheel]) -> str:
    """The census's errors on wheels where each tool for it finished, and none reports something related."""
    theirs = {
        wheel.file.removesuffix(".whl"): _list_related(wheel.reports) for wheel in wheels if len(wheel.reports) > 1
    }
    lines = ["| wheel | code | evidence of the census |", "|---|---|---|"]
    lines += [
        f"| {name} | {error.code} | {error.evidence} |"
        for name, error in census.label_errors(wheels)
        if error.code not in theirs.get(name, {error.code})
    ]
    return "\n".join(lines)


def _list_related(reports: Mapping[str, str]) -> set[str]:
    """latebind's codes for what other tools report on a wheel; all of a tool that did not finish, since it might."""
    return {
        code
        for difference in DIFFERENCES
        if (text := reports.get(difference.tool, "")).startswith(_UNREAD) or re.search(difference.pattern, text)
        for code in difference.codes
    }


def _only(ours: Mapping[str, Mapping[str, str]]) -> str:
    """The codes that no other tool has a rule for."""
    shared = {code for difference in DIFFERENCES for code in difference.codes}
    lines = ["| code | finds | errors | warnings | notes |", "|---|---|---|---|---|"]
    for code, check in own_checks().items():
        counts = Counter(reported[code] for reported in ours.values() if code in reported)
        if counts and code not in shared:
            numbers = " | ".join(str(counts[name]) for name in SEVERITIES)
            lines.append(f"| {code} | {check.title} | {numbers} |")
    return "\n".join([f"Counted in {plural(len(ours), 'wheel')}, each by its most severe finding.", "", *lines])


def _codes(text: str) -> dict[str, str]:
    """The most severe finding of each code."""
    codes: dict[str, str] = {}
    for part in text.split("; "):
        severity, *names = part.split() if part else [""]
        for name in names:
            codes.setdefault(name, severity)
    return codes


def _worst(reported: Mapping[str, str], codes: Sequence[str]) -> str:
    return next((name for name in SEVERITIES if name in {reported.get(code) for code in codes}), "")

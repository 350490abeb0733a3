"""Audits pinned packages of other projects and measures how often an error is right, by a table of labels.

    python ci/census.py            audit every package of the table; fail where it is out of step or a goal is missed
    python ci/census.py --part D   only one part of it; --sample 15: only every n-th, 15 in all

A label is `right` (the package fails for someone on its tags), `exaggerated` (true, but nothing fails) or `false`. The
unit is a package with a code. Packages (8 GB) are downloaded into LATEBIND_BENCH_CACHE; gen.py writes
docs/census.md. Exit status: 0 all goals met.
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pinned
from latebind.audit.audit import audit_paths
from latebind.audit.choice import Choice
from latebind.audit.policy import Policy
from latebind.model import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from latebind.model import Profile, Severity

TABLE = Path(__file__).resolve().parent.parent / "docs" / "truth" / "census.csv"
LABELS = ("right", "exaggerated", "false")
GOALS = {"A": 0.98, "B": 0.98, "C": 0.98, "D": 0.95}
_PARTS = {
    "A": "the checks were tuned on it",
    "B": "read when A was done: 11 of 19 errors were right; then tuned on, too",
    "C": "read when B was done: 5 of 7 errors were right; then tuned on, too",
    "D": "read last; nothing was changed afterwards",
}
_INTRODUCTION = """# How often an error is right

Published packages, audited with the rules for packages that bind no runtime (2026-11-22, wheels of PyPI). An error is
**right** if another tool shows that the package fails for someone on its tags, *exaggerated* if it is true and nothing
fails, *false* otherwise. A package with a code counts once, however many of its files have it.

`python ci/census.py` downloads and audits [the table](truth/census.csv) again, and fails if a label is missing or a
goal is not met. Before the severities had [this meaning](decisions/0051-severities.md), A and B had 182 errors in 102
packages. 16 of them remain; 73 became warnings, since the package fails for some, and 93 became notes or nothing.

The whole table was audited with this result by one command (403 wheels, 16 minutes with the downloads).
[Other tools on the same wheels](compare.md) says how many of the failures that they see are found here.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A package, and one code that is an error for it with a label and its evidence; no code if it has no error."""

    file: str
    part: str
    sha256: str
    code: str
    label: str
    evidence: str


def main() -> int:
    """Audit, compare and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=sorted(GOALS), help="only one part of the packages")
    parser.add_argument("--sample", type=int, metavar="N", help="only N packages of them, the same ones each time")
    arguments = parser.parse_args()
    rows = [row for row in read_table(TABLE) if arguments.part in (None, row.part)]
    pins = {row.file: row.sha256 for row in rows}
    files = [*pins][:: -(-len(pins) // (arguments.sample or len(pins)))]
    found = {file: codes(pinned.wheel(file, pins[file]), "loads").get("error", set()) for file in files}
    rows = [row for row in rows if row.file in found]
    wrong = [*problems(rows), *differences(rows, found)]
    for text in (*summary(rows), *wrong):
        print(text)
    return int(bool(wrong))


def read_table(path: Path) -> list[Entry]:
    """The rows of the table."""
    with path.open(encoding="utf-8", newline="") as file:
        return [Entry(**row) for row in csv.DictReader(file)]


def codes(path: Path, profile: Profile) -> Mapping[Severity, set[str]]:
    """The codes of each severity, with the rules for packages that bind no runtime."""
    report = audit_paths([path], Policy(runtimes=(), choice=Choice(profile=profile)), jobs=1)
    rows = {name: {row.code for row in report.findings if row.severity == name} for name in SEVERITIES}
    return {name: found for name, found in rows.items() if found}


def precision(rows: Sequence[Entry], part: str) -> tuple[int, int]:
    """How many errors of a part are right, and how many there are."""
    labels = [row.label for row in rows if row.part == part and row.code]
    return labels.count("right"), len(labels)


def summary(rows: Sequence[Entry]) -> Iterable[str]:
    """A line for each part."""
    for part in sorted({row.part for row in rows}):
        right, count = precision(rows, part)
        packages = {row.file for row in rows if row.part == part}
        failing = {row.file for row in rows if row.part == part and row.code}
        share = f"{len(failing)} of {len(packages)} packages have errors"
        yield f"part {part}: {right} of {count} errors are right; {share}"


def problems(rows: Sequence[Entry]) -> Iterable[str]:
    """Labels that are not valid, and goals that are missed."""
    for row in rows:
        if bool(row.code) != bool(row.label and row.evidence) or (row.code and row.label not in LABELS):
            yield f"{row.file} {row.code}: needs a label ({', '.join(LABELS)}) and its evidence"
    for part in sorted({row.part for row in rows}):
        right, count = precision(rows, part)
        if right < GOALS[part] * count:
            yield f"part {part}: {right} of {count} errors are right, but the goal is {GOALS[part]:.0%}"


def differences(rows: Sequence[Entry], found: Mapping[str, set[str]]) -> Iterable[str]:
    """Where the audit's errors are not those of the table."""
    known: dict[str, set[str]] = {}
    for row in rows:
        known.setdefault(row.file, set()).update({row.code} - {""})
    for file, codes in known.items():
        yield from (f"{file}: {code} is a new error without a label" for code in sorted(found[file] - codes))
        yield from (f"{file}: {code} is no longer an error" for code in sorted(codes - found[file]))


def page() -> str:
    """docs/census.md, by the table alone."""
    rows = read_table(TABLE)
    lines = ["| part | packages | with errors | errors | right | goal | |", "|---|---|---|---|---|---|---|"]
    for part, remark in _PARTS.items():
        right, count = precision(rows, part)
        packages = {row.file for row in rows if row.part == part}
        failing = {row.file for row in rows if row.part == part and row.code}
        share = f"{right} ({right / count:.0%})"
        lines.append(
            f"| {part} | {len(packages)} | {len(failing)} | {count} | {share} | {GOALS[part]:.0%} | {remark} |"
        )
    lines += ["", "## Errors", "", "| package | code | label | evidence |", "|---|---|---|---|"]
    lines += [
        f"| {row.file.removesuffix('.whl')} | [{row.code}](checks/index.md) | {row.label} | {row.evidence} |"
        for row in sorted(rows, key=lambda row: (row.file.lower(), row.code))
        if row.code
    ]
    return "\n".join([_INTRODUCTION, *lines]) + "\n"


if __name__ == "__main__":
    sys.exit(main())

"""Audits pinned packages of other projects and measures how often an error is right, by a table of labels.

    python -m accuracy.census            audit every package; fail where the table is out of step or a goal is missed
    python -m accuracy.census --part D   only one part of it; --sample 15: only every n-th, 15 in all

census.csv has a row for each package, errors.csv one for each code that is an error for one, with
a label: `right` (the package fails for someone on its tags), `exaggerated` (true, but nothing fails) or `false`.
Packages (8 GB) are downloaded into LATEBIND_BENCH_CACHE; the site has a page about it. Exit status: 0 all goals met.
"""

from __future__ import annotations

import argparse
import csv
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy import downloads

from loadcheck.audit import audit_paths
from loadcheck.engine.policy import Choice, Policy
from loadcheck.model import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadcheck.model import Profile, Severity

HERE = Path(__file__).resolve().parent
TABLE = HERE / "census.csv"
NOTHING = "nothing"
LABELS = ("right", "exaggerated", "false")
GOALS = {"A": 0.98, "B": 0.98, "C": 0.98, "D": 0.95}
_PARTS = {
    "A": "the checks were tuned on it",
    "B": "read when A was done: 11 of 19 errors were right; then tuned on, too",
    "C": "read when B was done: 5 of 7 errors were right; then tuned on, too",
    "D": "read last; when requirements were read, 11 of 12 were right; then corrected, too",
}
_INTRODUCTION = """# How often an error is right

Published packages, audited with the rules for packages that bind no runtime (2026-11-22, wheels of PyPI). An error is
**right** if another tool shows that the package fails for someone on its tags, *exaggerated* if it is true and nothing
fails, *false* otherwise. A package with a code counts once, however many of its files have it.

`python -m accuracy.census` downloads and audits [the table](../loadcheck/accuracy/census.csv) again, and fails if
[a label](../loadcheck/accuracy/errors.csv) is missing or a goal is not met. Before the severities had
[this meaning](decisions/0051-severities.md), A and B had 182 errors in 102 packages; now they have 18.

The table was audited again on 2026-11-27, without torchvision 0.29.2, which could not be downloaded. That found three
wrong errors, which were corrected, so that all four parts are tuned on now; one reader labelled five new errors.
[Other tools on the same wheels](compare.md) says how many of the failures that they see are found here.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """A code that is an error for a package, with a label and its evidence."""

    code: str
    label: str
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A package, its errors, and what each tool of peers.py that has read it reports: "" for nothing."""

    file: str
    part: str
    sha256: str
    errors: tuple[Error, ...]
    reports: Mapping[str, str]


def main() -> int:
    """Audit, compare and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=sorted(GOALS), help="only one part of the packages")
    parser.add_argument("--sample", type=int, metavar="N", help="only N packages of them, the same ones each time")
    arguments = parser.parse_args()
    wheels = [wheel for wheel in read_table() if arguments.part in (None, wheel.part)]
    wheels = wheels[:: -(-len(wheels) // (arguments.sample or len(wheels)))]
    errors = {
        wheel.file: codes(downloads.find_pinned(wheel.file, wheel.sha256), "loads").get("error", set())
        for wheel in wheels
    }
    wrong = [*problems(wheels), *differences(wheels, errors)]
    for text in (*summary(wheels), *wrong):
        print(text)
    return int(bool(wrong))


def read_table() -> list[Wheel]:
    """The packages with their errors. Raises ValueError if an error is one of another package."""
    errors: dict[str, list[Error]] = {}
    for record in _rows(HERE / "errors.csv"):
        errors.setdefault(record.pop("file"), []).append(Error(**record))
    wheels = [_wheel(errors, **record) for record in _rows(TABLE)]
    if unknown := errors.keys() - {record.file for record in wheels}:
        raise ValueError(f"not in {TABLE.name}: {', '.join(sorted(unknown))}")
    return wheels


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _wheel(errors: Mapping[str, Sequence[Error]], file: str, part: str, sha256: str, **tools: str) -> Wheel:
    reports = {tool: "" if text == NOTHING else text for tool, text in tools.items() if text}
    return Wheel(file=file, part=part, sha256=sha256, errors=tuple(errors.get(file, ())), reports=reports)


def codes(path: Path, profile: Profile) -> Mapping[Severity, set[str]]:
    """The codes of each severity, with the rules for packages that bind no runtime."""
    report = audit_paths([path], Policy(runtimes=(), choice=Choice(profile=profile)), jobs=1)
    by_severity = {
        name: {finding.code for finding in report.findings if finding.severity == name} for name in SEVERITIES
    }
    return {name: code_set for name, code_set in by_severity.items() if code_set}


def precision(wheels: Sequence[Wheel], part: str) -> tuple[int, int]:
    """How many errors of a part are right, and how many there are."""
    labels = [error.label for wheel in wheels if wheel.part == part for error in wheel.errors]
    return labels.count("right"), len(labels)


def failing(wheels: Sequence[Wheel], part: str) -> tuple[int, int]:
    """How many packages of a part have errors, and how many there are."""
    packages = [wheel for wheel in wheels if wheel.part == part]
    return sum(bool(wheel.errors) for wheel in packages), len(packages)


def summary(wheels: Sequence[Wheel]) -> Iterable[str]:
    """A line for each part."""
    for part in sorted({wheel.part for wheel in wheels}):
        right, count = precision(wheels, part)
        bad, packages = failing(wheels, part)
        yield f"part {part}: {right} of {count} errors are right; {bad} of {packages} packages have errors"


def problems(wheels: Sequence[Wheel]) -> Iterable[str]:
    """Labels that are not valid, and goals that are missed."""
    for wheel in wheels:
        for error in wheel.errors:
            if not error.code or error.label not in LABELS or not error.evidence:
                yield f"{wheel.file} {error.code}: needs a label ({', '.join(LABELS)}) and its evidence"
    for part in sorted({wheel.part for wheel in wheels}):
        right, count = precision(wheels, part)
        if right < GOALS[part] * count:
            yield f"part {part}: {right} of {count} errors are right, but the goal is {GOALS[part]:.0%}"


def differences(wheels: Sequence[Wheel], measured: Mapping[str, set[str]]) -> Iterable[str]:
    """Where the audit's errors are not those of the table."""
    for wheel in wheels:
        labelled = {error.code for error in wheel.errors}
        yield from (
            f"{wheel.file}: {code} is a new error without a label" for code in sorted(measured[wheel.file] - labelled)
        )
        yield from (f"{wheel.file}: {code} is no longer an error" for code in sorted(labelled - measured[wheel.file]))


def label_errors(wheels: Sequence[Wheel]) -> list[tuple[str, Error]]:
    """All errors with the names of their packages, without the ending, in the order of the pages."""
    pairs = [(wheel.file, error) for wheel in wheels for error in wheel.errors]
    pairs.sort(key=lambda pair: (pair[0].lower(), pair[1].code))
    return [(file.removesuffix(".whl"), error) for file, error in pairs]


def page() -> str:
    """The site's page census.md, by the tables alone."""
    wheels = read_table()
    lines = ["| part | packages | with errors | errors | right | goal | |", "|---|---|---|---|---|---|---|"]
    for part, remark in _PARTS.items():
        right, count = precision(wheels, part)
        bad, packages = failing(wheels, part)
        share = f"{right} ({right / count:.0%})"
        lines.append(f"| {part} | {packages} | {bad} | {count} | {share} | {GOALS[part]:.0%} | {remark} |")
    lines += ["", "## Errors", "", "| package | code | label | evidence |", "|---|---|---|---|"]
    lines += [
        f"| {name} | [{error.code}](checks/index.md) | {error.label} | {error.evidence} |"
        for name, error in label_errors(wheels)
    ]
    return "\n".join([_INTRODUCTION, *lines]) + "\n"


if __name__ == "__main__":
    sys.exit(main())

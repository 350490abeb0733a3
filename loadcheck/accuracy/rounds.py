"""Measures the audit on packages that nobody has read: draws them, audits them, and counts from a ledger of verdicts.

    python -m accuracy.rounds draw ROUND --seed N --names FILE   write rounds/ROUND.csv, with empty verdicts
    python -m accuracy.rounds draw ROUND --seed N --npm FILE     add npm packages with binaries, from a list of names
    python -m accuracy.rounds note ROUND TABLE FOLDER            write what threads report about packages in a folder
    python -m accuracy.rounds draw ROUND --add FILE...           add packages on disk, such as those of issue threads
    python -m accuracy.rounds count                              precision and recall of each round; fail if one is open

A row of the ledger is an error or a warning of the audit, or a failure that another tool or an issue thread showed,
before anything was changed because of the round. What a thread says is written before the package is audited. A person
fills in the verdict and its reason: `right`, `exaggerated` (true, but nothing fails) or `false` for a finding;
`reported`, `missed` or `no failure` for what another tool says. A package is drawn for one round only, and never if the
census has a wheel of its project. The two latest rounds have their ledgers, earlier.toml what remains of the others.
Run it as root: loadcheck/accuracy/imports.py says why.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections import Counter
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from accuracy import census, drawing, imports, peers

from loadcheck.archive import sha256
from loadcheck.audit import audit_paths
from loadcheck.engine.policy import Choice, Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROUNDS = census.HERE / "rounds"
EARLIER = ROUNDS / "earlier.toml"
FINDINGS = ("right", "exaggerated", "false")
FAILURES = ("reported", "missed", "no failure")
WRONG = ("exaggerated", "false", "missed")
COUNTED = ("errors that are right", "warnings that are right", "failures that are reported")
_SECTION = """
## Packages that nobody had read

A round is a set of packages for which no check was tuned. The packages of rounds 1 to 3, 10 and 11 are drawn at random
from all names of the package index and of npm. Of rounds 4 to 9, some are those of public issue threads about broken
packages, whose failures were written down before the audit, and the others are drawn from lists of projects with native
code. No package is drawn twice. The counts are those of the audit on that day, before any check was changed because of
the round. Other tools, imports and the threads show the failures. Where a thread's file is gone, the release nearest to
it that fails alike was taken. The authors of the notes and verdicts from round 5 on wrote none of the checks, and from
round 6 on did not read them.

The goals are errors that are right in 95% of the cases, with 85% as the lower end of the interval; warnings in 85%; and
90% of the failures reported. Rounds 1 to 3 meet the goal for failures only, rounds 4, 6, 8 and 11 the one for
warnings only, and the others none. To show the goal for errors, a round needs 45 of them, which none has. Packages of
threads are those that users complained about, so rounds with them have more errors and failures. Corrections after a
round say nothing about the packages of a next one.

Of rounds 1 to 9, [a summary](../loadcheck/accuracy/rounds/earlier.toml) remains: the counts, and each wrong finding and
miss. [Round 10](../loadcheck/accuracy/rounds/10.csv) and [round 11](../loadcheck/accuracy/rounds/11.csv) have every
finding with its verdict.

The 20 packages of threads in round 9, 15 wheels and 5 of npm, have 4 right errors of 5 (38% to 96%), 14 right warnings
of 18 (55% to 91%), and 20 reported failures of 24 (64% to 93%); six of them do not fail as their threads say. The 45
that are drawn, 31 wheels and 14 of npm, have 5 right errors of 5 (57% to 100%), 20 right warnings of 23 (68% to 95%),
and 25 reported failures of 30 (66% to 93%).

Round 10 has 45 wheels and 15 packages of npm. A reader who knows neither the code nor the checks searched each of them
for failures, without the other tools. After the round, `LB108` for a search path into a folder that other users may
write to, which is three of the four wrong errors, became a warning that names its condition: a machine with other
users. The ledger has no rows for failures that the audit reported: with its 19 right findings, 19 of 28 are reported. A
second reader, who did not see these verdicts, calls 5 of the 10 errors and all 16 warnings right, and found 8 failures,
of which 7 are the same; the fifth wrong error is `LB306` for a package that catches what is missing (xtrade_ai).

Round 11 has 39 wheels, 13 packages of npm and 8 sdists, audited with `--resolve`; no AAR was drawn, and no registry
with NuGet packages could be asked. Two readers searched each package for all that fails, in Python code, requirements
and builds, too, most of which loadcheck does not judge. Of the 18 failures of native files, 14 are reported (55% to
91%). The others are an add-on that was converted to text, which `LB604` reports since then, a function that ctypes asks
for and the library lacks, a library that is opened at run time, and one of the graphics driver. Of the sdists' 20
failures, two are reported. The ledger has all that the readers found, also what the audit reported.

The second table has the reasons for all wrong findings and misses of all rounds.
"""
_SEVERITIES = ("error", "warning")


@dataclass(frozen=True, slots=True)
class Observation:
    """A row: what the audit or another tool says about a package, and whether that is right."""

    file: str
    sha256: str
    source: str
    code: str
    text: str
    verdict: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What is known of a round: what was counted, each with how many are right and of how many; and what was wrong."""

    number: int
    packages: int
    counts: tuple[tuple[str, int, int], ...]
    wrong: tuple[tuple[str, ...], ...]
    """File, code or tool, verdict and reason."""
    drawn: frozenset[str]
    """The projects of its packages."""


def main() -> int:
    """Draw or count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    drawn = commands.add_parser("draw", help="draw packages, and audit them")
    drawn.add_argument("round", type=int)
    drawn.add_argument("--seed", type=int, help="what the order of the names is drawn with")
    drawn.add_argument(
        "--names", type=Path, metavar="FILE", help="names of projects, if need be with tabs and summaries"
    )
    drawn.add_argument("--wheels", type=int, default=80, help="how many wheels to draw (default: 80)")
    drawn.add_argument("--npm", type=Path, metavar="FILE", help="a list of names: JSON, or the first column of a table")
    drawn.add_argument("--npm-count", type=int, default=20, help="how many npm packages to draw (default: 20)")
    drawn.add_argument("--add", type=Path, nargs="+", default=[], metavar="FILE", help="packages that are on disk")
    noted = commands.add_parser("note", help="write what threads say, before the packages are audited")
    noted.add_argument("round", type=int)
    noted.add_argument("table", type=Path, help="lines with tabs: the name of a file, the thread, the failure")
    noted.add_argument("folder", type=Path, help="where the packages are")
    commands.add_parser("count", help="print precision and recall")
    arguments = parser.parse_args()
    if arguments.command == "count":
        return print_counts()
    ledger = ROUNDS / f"{arguments.round}.csv"
    if arguments.command == "note":
        append_rows(ledger, note_threads(arguments.table, arguments.folder))
        return 0
    projects = {name for each in read_rounds() for name in each.drawn}
    measure_packages(ledger, arguments.add)
    if arguments.npm:
        measure_packages(ledger, drawing.draw_npm(arguments.npm, arguments.seed, arguments.npm_count, projects))
    projects |= {drawing.project_of(wheel.file) for wheel in census.read_table()}
    if arguments.names:
        measure_packages(ledger, drawing.draw_wheels(arguments.names, arguments.seed, arguments.wheels, projects))
    return 0


def note_threads(table: Path, folder: Path) -> Iterator[Observation]:
    """What issue threads report about packages, by a table whose lines have the file, the thread and the failure."""
    for line in table.read_text("utf-8").splitlines():
        name, thread, failure = line.split("\t")
        yield Observation(name, sha256(folder / name), "thread", "", f"{thread}: {failure}")


def measure_packages(ledger: Path, paths: Iterable[Path]) -> None:
    """Audit each package and run the other tools on it. Writes the rows of a package as soon as it is measured."""
    ledger.parent.mkdir(exist_ok=True)
    rows = read_ledger(ledger) if ledger.is_file() else []
    measured = {observation.file for observation in rows if observation.source != "thread"}
    for path in paths:
        if path.name in measured:
            continue
        observations = [*list_findings(path), *list_failures(path)]
        append_rows(ledger, observations or [Observation(path.name, sha256(path), "nothing", "", "")])


def append_rows(ledger: Path, rows: Iterable[Observation]) -> None:
    """Write rows to the end of a ledger, which is made if there is none."""
    is_new = not ledger.is_file()
    with ledger.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([[field.name for field in fields(Observation)]] if is_new else [])
        writer.writerows(map(astuple, rows))


def list_findings(path: Path) -> Iterator[Observation]:
    """A observation for each code that is an error or a warning, with the first finding's text."""
    report = audit_paths([path], Policy(runtimes=(), choice=Choice(profile="loads")), jobs=1)
    count = Counter((finding.severity, finding.code) for finding in report.findings)
    for severity, code in sorted(count):
        if severity in _SEVERITIES:
            first = next(finding for finding in report.findings if (finding.severity, finding.code) == (severity, code))
            text = " ".join(" | ".join((first.message, *first.evidence[:3])).split())[:400]
            more = f" (and {count[severity, code] - 1} more)" if count[severity, code] > 1 else ""
            subject = first.subject.partition("!")[2]
            yield Observation(path.name, sha256(path), severity, code, f"{subject}: {text}{more}")


def list_failures(path: Path) -> Iterator[Observation]:
    """A observation for each tool that reports anything, an import among them."""
    if path.suffix == ".whl":
        reports = {**peers.compare(path), "import": imports.import_wheel(path)}
        del reports["latebind"]
    else:
        reports = {"node": imports.load_addons(path)}
    for tool, report in sorted(reports.items()):
        if report and tool != "check-wheel-contents":  # its codes are about layout; nothing fails by them
            yield Observation(path.name, sha256(path), tool, "", report[:400])


def read_ledger(ledger: Path) -> list[Observation]:
    """The rows of a round."""
    with ledger.open(encoding="utf-8", newline="") as file:
        return [Observation(**record) for record in csv.DictReader(file)]


def read_rounds() -> list[Round]:
    """All rounds, by their numbers."""
    earlier = msgspec.toml.decode(EARLIER.read_bytes(), type=dict[str, list[Round]])["rounds"]
    return earlier + [_read_round(path) for path in sorted(ROUNDS.glob("*.csv"), key=lambda path: int(path.stem))]


def _read_round(ledger: Path) -> Round:
    rows = read_ledger(ledger)
    return Round(
        number=int(ledger.stem),
        packages=len({row.file for row in rows}),
        counts=tuple(count_verdicts(rows)),
        wrong=tuple(
            (row.file, row.code or row.source, row.verdict, row.reason) for row in rows if row.verdict in WRONG
        ),
        drawn=frozenset(drawing.project_of(row.file) for row in rows),
    )


def print_counts() -> int:
    """Precision of errors and warnings, and recall, of each round; what has no verdict yet."""
    for each in read_rounds():
        print(f"round {each.number}: {each.packages} packages")
        for label, count, total in each.counts:
            low, high = interval(count, total)
            print(f"  {label}: {count} of {total} ({low:.0%} to {high:.0%})")
    missing = [text for path in ROUNDS.glob("*.csv") for text in list_problems(path.name, read_ledger(path))]
    print(*missing, sep="\n")
    return int(bool(missing))


def page() -> str:
    """The section of the site's page census.md on the rounds, by the ledgers alone."""
    lines = [_SECTION, "| Round | Packages | What | Right | 95 % interval |", "|---|---|---|---|---|"]
    wrong = ["| Round | Package | What | Verdict | Reason |", "|---|---|---|---|---|"]
    for each in read_rounds():
        for label, count, total in each.counts:
            low, high = interval(count, total)
            shares = f"{count} of {total} | {low:.0%} to {high:.0%}"
            lines.append(f"| {each.number} | {each.packages} | {label} | {shares} |")
        wrong += [f"| {each.number} | {' | '.join(row)} |" for row in each.wrong]
    return "\n".join([*lines, "", *wrong]) + "\n"


def count_verdicts(observations: Sequence[Observation]) -> Iterator[tuple[str, int, int]]:
    """What is measured, how often it is right, and out of how many."""
    for label, severity in zip(COUNTED, _SEVERITIES, strict=False):
        verdicts = [observation.verdict for observation in observations if observation.source == severity]
        yield label, verdicts.count("right"), len(verdicts)
    failures = {
        (observation.file, observation.reason): observation.verdict
        for observation in observations
        if observation.verdict in {"reported", "missed"}
    }
    yield COUNTED[-1], [*failures.values()].count("reported"), len(failures)


def list_problems(ledger: str, observations: Sequence[Observation]) -> Iterator[str]:
    """Rows without a valid verdict and a reason."""
    for seen in observations:
        verdicts = FINDINGS if seen.source in _SEVERITIES else FAILURES
        if seen.source == "nothing" or seen.text.startswith("not run"):
            continue
        if seen.verdict not in verdicts or not seen.reason:
            wanted = f"needs a verdict ({', '.join(verdicts)}) and its reason"
            yield f"{ledger}: {seen.file} {seen.source} {seen.code}: {wanted}"


def interval(count: int, total: int) -> tuple[float, float]:
    """Wilson's interval of 95 % of a share. Source: Wilson, J. Am. Stat. Assoc. 22 (1927), 209-212."""
    if not total:
        return 0.0, 1.0
    z, share = 1.959964, count / total
    middle = share + z * z / (2 * total)
    width = z * ((share * (1 - share) + z * z / (4 * total)) / total) ** 0.5
    return (middle - width) / (1 + z * z / total), (middle + width) / (1 + z * z / total)


if __name__ == "__main__":
    sys.exit(main())

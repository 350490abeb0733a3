"""Measures the audit on packages that nobody has read: draws them, audits them, and counts from a ledger of verdicts.

    python -m accuracy.rounds draw ROUND --seed N --index URL    write rounds/ROUND.csv, with empty verdicts
    python -m accuracy.rounds draw ROUND --seed N --names FILE   the same by a list of names, for all that the index has
    python -m accuracy.rounds draw ROUND --seed N --npm FILE     add npm packages with binaries, from a list of names
    python -m accuracy.rounds note ROUND TABLE FOLDER            write what threads report about packages in a folder
    python -m accuracy.rounds draw ROUND --add FILE...           add packages on disk, such as those of issue threads
    python -m accuracy.rounds count                              precision and recall of each round; fail if one is open

A row of the ledger is an error or a warning of the audit, or a failure that another tool or an issue thread showed,
before anything was changed because of the round. What a thread says is written before the package is audited. A person
fills in the verdict and its reason: `right`, `exaggerated` (true, but nothing fails) or `false` for a finding;
`reported`, `missed` or `no failure` for what another tool says. A package is drawn for one round only, and never if the
census has a wheel of its project. Run it as root: loadcheck/accuracy/imports.py says why.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import sys
from collections import Counter
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from accuracy import census, drawing, imports, peers

from ci.machines import pinned
from loadcheck.audit import audit_paths
from loadcheck.engine.choice import Choice
from loadcheck.engine.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ROUNDS = census.HERE / "rounds"
FINDINGS = ("right", "exaggerated", "false")
FAILURES = ("reported", "missed", "no failure")
_SECTION = """
## Packages that nobody had read

The packages of rounds 1 to 3 are drawn at random from all names of the package index and of npm. About half of the
packages of rounds 4 to 7 are those of public issue threads about broken packages, whose failures were written down
before the audit. The others are drawn from lists: names of wheels whose summary mentions a compiled language, and names
of npm packages that end with a platform. No package is drawn twice. The counts are those of the audit on that day,
before any check was changed because of the round. Other tools, imports and the threads show the failures. Before the
first round, on 147 packages that the checks were not tuned on, 16 of 23 errors were right (70%), 52 of 80 warnings
(65%), and 40 of 52 failures were reported (77%).
[The ledgers](../loadcheck/accuracy/rounds/1.csv) have every finding with its verdict.

The goals are errors that are right in 95% of the cases, with 85% as the lower end of the interval; warnings in 85%; and
90% of the failures reported. Rounds 4 and 6 meet the goal for warnings only, round 5 none. The 56 packages of threads
in round 4 have 27 of its 30 errors and 56 of its 58 failures, so its numbers describe packages that users complained
about. The authors of the notes and verdicts from round 5 on wrote none of the checks, and from round 6 on did not read
them. Corrections after a round say nothing about the packages of a next one.

In round 5, the 44 packages of threads have 16 right errors of 17 (73% to 99%), 31 right warnings of 36 (71% to 94%),
and 33 reported failures of 41 (66% to 90%). The 46 that are drawn, 32 wheels and 14 of npm, have one error, which is
right, 11 right warnings of 14 (52% to 92%), and one failure, which is reported. Where a thread's file is gone, the
release nearest to it that fails alike was taken. Four threads are not counted as failures; one of them is in doubt.

In round 6, the 63 packages of threads, 46 wheels and 17 of npm, have 24 right errors of 26 (76% to 98%), 52 right
warnings of 55 (85% to 98%), and 46 reported failures of 65 (59% to 80%). The 58 that are drawn, 40 wheels and 18 of
npm, have 3 right errors of 5 (23% to 88%), 16 right warnings of 17 (73% to 99%), and one reported failure of two. Files
that do not fail as their threads say were left out. Two failures count as reported though only a note names the library
that is not found, for a warning names the search path (pygeoprocessing, natcap_invest).

Round 7 meets none of the goals. It has too few errors to show the goal for them, for which 45 are needed: the audit
grades most of the noted failures as warnings, and public threads about packages that no round has are rare now. Its 91
packages of threads, 70 wheels and 21 of npm, have 14 right errors of 15 (70% to 99%), 42 right warnings of 53 (67% to
88%), and 43 reported failures of 59 (60% to 83%). The 126 that are drawn, 92 wheels and 34 of npm, have 4 right errors
of 5 (38% to 96%), 22 right warnings of 23 (79% to 99%), and 18 reported failures of 19 (75% to 99%). All drawn packages
were searched for failures by the other tools first, and modules for x86-64 Linux were imported on an emulated processor
without AVX. Files that do not fail as their threads say were kept from this round on, with the verdict `no failure`.

The two wrong errors of round 7 are `LB107` for a library that the package loads from .NET first (pyjion), and `LB611`
for a file `.env` without a secret (rqsession). The wrong warnings are libraries that the package loads by their paths
first (`LB107`, `LB108`, `LB114`), a weakly linked one and the folder of a program (`LB114`, `LB108`), copies of a
library for linkers (`LB404`, twice), a build for newer processors next to a baseline (`LB118`), a DLL that CPython has
(`LB111`), an addon that nothing loads (`LB908`), and npm's file name of a version with build metadata (`LB901`). Of its
17 misses, six are wheels for another NumPy than some that their requirements allow, and two are compiled for newer
processors, with `cpuid` in them as well (h3ronpy, mistralrs). The others have nothing in common.

Round 8 meets the goal for warnings only, and its nine errors show little about errors. It has fewer packages than was
planned, since they were taken from lists on disk and from threads, one by one, without a search of an index. Its 17
packages of threads, 11 wheels and 6 of npm, have 5 right errors of 6 (44% to 97%), 10 right warnings of 11 (62% to
98%), and all 13 failures are reported (77% to 100%). The 83 others, 49 wheels and 34 of npm, are drawn, but for two
that the search for threads led to. The wheels are drawn from projects that the judge knew to ship binaries. They have 3
right errors of 3 (44% to 100%), 33 right warnings of 39 (70% to 93%), and 33 reported failures of 43 (62% to 87%).

The wrong error of round 8 is `LB901` for a version that begins with v, which npm reads without it (envio). The wrong
warnings are the same version in a file name (`LB901`, envio), functions of Python in libraries for its modules
(`LB106`, cmeel_boost), libraries of required wheels (`LB107`, coal) and of Android (`LB107`, pairing-crypto-rn),
folders in RECORD (`LB501`, dukpy), programs that nothing runs (`LB111`, opencc), and a DLL for 32-bit processes
(`LB302`, viztracer). Of its 10 misses, eight are addons of npm that are offered to processors, C libraries,
systems or versions of Node.js that they are not for. The others are programs that do not start (remotion, taplo).

Round 9 meets none of the goals. Its packages were taken as in round 8, with about 90 requests: the wheels are drawn
from the names on disk whose summaries speak of native libraries. Its 20 packages of threads, 15 wheels and 5 of npm,
have 4 right errors of 5 (38% to 96%), 14 right warnings of 18 (55% to 91%), and 20 reported failures of 24 (64% to
93%); six of them do not fail as their threads say. The 45 that are drawn, 31 wheels and 14 of npm, have 5 right errors
of 5 (57% to 100%), 20 right warnings of 23 (68% to 95%), and 25 reported failures of 30 (66% to 93%). The wrong error
is `LB107` for a library that only systems with RDMA load (nvidia_cufile). The wrong warnings are the same library's
search path (`LB114`), libraries for other systems and processors in folders that a module chooses from (`LB111`,
`LB302`, `LB404`, mssql_python), wheels tagged any whose names say their platforms (`LB303`, lesscoder_adapter_win_x64,
sigmashake_darwin_arm64), and names of files that are invalid on Windows, in a wheel for macOS (`LB603`, libint2).
Its nine misses are programs without the run-time library of Visual C++ next to them (lesscoder_adapter_win_x64,
stepflow_orchestrator, winflexbison_bin), a module with a suffix that no interpreter for its tag has (TgCrypto), one for
newer processors, with `cpuid` in it (turbovec), modules for NumPy 1 where other requirements install NumPy 2 (pywr), a
library that the code looks for in another folder (specfunc), a prebuild for one system without what compiling it for
others needs (hexcore-capstone), and an addon whose source does not compile on musl (lmdb-store).

Round 10, drawn by a seed from all names of the index and of npm (45 wheels, 15 of npm), meets no goal. A reader who
knows neither the code nor the checks searched each package for failures, without the other tools. Three of the four
wrong errors are `LB108` for a search path into a folder that other users may write to: true, but the import works
(pymedooze, realsenseid, pyBAScloudAPI). After the round, `LB108` became a warning that names its condition: a machine
with other users. The other is `LB107` for a leftover copy of a library that no module loads
(pyBAScloudAPI), and so is a wrong `LB114`. The other wrong warnings are an addon for musl whose library Node.js itself
needs there (`LB107`), and a platform package that its parent chooses by C library (`LB903`, alcalzone-rsonl-db). Nine
failures were missed: programs and modules for Windows without Visual C++'s run-time libraries (lucas_igraph,
wre_client_akamai), Python code that imports what is not required or not there (quant_met, bats_tda, pyrustmpi), and
libraries that are found only with settings of the system (ros_unique_identifier_msgs, uc_manager_cann910_a3,
pyBAScloudAPI, dlite_python). The ledger has no rows for what the audit reported: with its 19 right findings, 19 of 28
are reported. A second reader, who did not see these verdicts, calls 5 of the 10 errors and all 16 warnings right, and
found 8 failures, of which 7 are the same; the fifth wrong error is `LB306` for a package that catches what is missing
(xtrade_ai).

The table has the reasons for all wrong findings and misses of all rounds.
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


def main() -> int:
    """Draw or count."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    drawn = commands.add_parser("draw", help="draw packages, and audit them")
    drawn.add_argument("round", type=int)
    drawn.add_argument("--seed", type=int, help="what the order of the names is drawn with")
    drawn.add_argument("--index", metavar="URL", help="the package index that the wheels come from")
    drawn.add_argument("--names", type=Path, metavar="FILE", help="a table of names and summaries, separated by tabs")
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
    projects = {drawing.project_of(seen.file) for path in ROUNDS.glob("*.csv") for seen in read_ledger(path)}
    measure_packages(ledger, arguments.add)
    if arguments.npm:
        measure_packages(ledger, drawing.draw_npm(arguments.npm, arguments.seed, arguments.npm_count, projects))
    projects |= {drawing.project_of(wheel.file) for wheel in census.read_table()}
    if arguments.names:
        measure_packages(ledger, drawing.draw_from_names(arguments.names, arguments.seed, arguments.wheels, projects))
    if arguments.index:
        measure_packages(ledger, drawing.draw_wheels(arguments.index, arguments.seed, arguments.wheels, projects))
    return 0


def note_threads(table: Path, folder: Path) -> Iterator[Observation]:
    """What issue threads report about packages, by a table whose lines have the file, the thread and the failure."""
    for line in table.read_text("utf-8").splitlines():
        name, thread, failure = line.split("\t")
        yield Observation(name, _digest(folder / name), "thread", "", f"{thread}: {failure}")


def measure_packages(ledger: Path, paths: Iterable[Path]) -> None:
    """Audit each package and run the other tools on it. Writes the rows of a package as soon as it is measured."""
    ledger.parent.mkdir(exist_ok=True)
    rows = read_ledger(ledger) if ledger.is_file() else []
    measured = {observation.file for observation in rows if observation.source != "thread"}
    programs = pinned.environment("peers", peers.REQUIREMENTS)
    for path in paths:
        if path.name in measured:
            continue
        observations = [*list_findings(path), *list_failures(path, programs)]
        append_rows(ledger, observations or [Observation(path.name, _digest(path), "nothing", "", "")])


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
            yield Observation(path.name, _digest(path), severity, code, f"{subject}: {text}{more}")


def list_failures(path: Path, programs: Path) -> Iterator[Observation]:
    """A observation for each tool that reports anything, an import among them."""
    if path.suffix == ".whl":
        reports = {**peers.compare(path, programs), "import": imports.import_wheel(path)}
        del reports["latebind"]
    else:
        reports = {"node": imports.load_addons(path)}
    for tool, report in sorted(reports.items()):
        if report and tool != "check-wheel-contents":  # its codes are about layout; nothing fails by them
            yield Observation(path.name, _digest(path), tool, "", report[:400])


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_ledger(ledger: Path) -> list[Observation]:
    """The rows of a round."""
    with ledger.open(encoding="utf-8", newline="") as file:
        return [Observation(**record) for record in csv.DictReader(file)]


def print_counts() -> int:
    """Precision of errors and warnings, and recall, of each round; what has no verdict yet."""
    missing: list[str] = []
    for ledger in sorted(ROUNDS.glob("*.csv")):
        observations = read_ledger(ledger)
        print(f"round {ledger.stem}: {len({observation.file for observation in observations})} packages")
        for label, count, total in count_verdicts(observations):
            low, high = interval(count, total)
            print(f"  {label}: {count} of {total} ({low:.0%} to {high:.0%})")
        missing += list_problems(ledger.name, observations)
    print(*missing, sep="\n")
    return int(bool(missing))


def page() -> str:
    """The section of the site's page census.md on the rounds, by the ledgers alone."""
    lines = [_SECTION, "| Round | Packages | What | Right | 95 % interval |", "|---|---|---|---|---|"]
    wrong = ["| Round | Package | What | Verdict | Reason |", "|---|---|---|---|---|"]
    for ledger in sorted(ROUNDS.glob("*.csv")):
        observations = read_ledger(ledger)
        packages = len({observation.file for observation in observations})
        for label, count, total in count_verdicts(observations):
            low, high = interval(count, total)
            lines.append(f"| {ledger.stem} | {packages} | {label} | {count} of {total} | {low:.0%} to {high:.0%} |")
        wrong += [
            f"| {ledger.stem} | {seen.file} | {seen.code or seen.source} | {seen.verdict} | {seen.reason} |"
            for seen in observations
            if seen.verdict in {"exaggerated", "false", "missed"}
        ]
    return "\n".join([*lines, "", *wrong]) + "\n"


def count_verdicts(observations: Sequence[Observation]) -> Iterator[tuple[str, int, int]]:
    """What is measured, how often it is right, and out of how many."""
    for severity in _SEVERITIES:
        verdicts = [observation.verdict for observation in observations if observation.source == severity]
        yield f"{severity}s that are right", verdicts.count("right"), len(verdicts)
    failures = {
        (observation.file, observation.reason): observation.verdict
        for observation in observations
        if observation.verdict in {"reported", "missed"}
    }
    yield "failures that are reported", [*failures.values()].count("reported"), len(failures)


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

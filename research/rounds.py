"""Measures the audit on packages that nobody has read: draws them, audits them, and counts from a ledger of verdicts.

    python -m research.rounds draw ROUND --seed N --index URL    write docs/truth/rounds/ROUND.csv, with empty verdicts
    python -m research.rounds draw ROUND --seed N --npm FILE     add 20 npm packages with binaries, from a list of names
    python -m research.rounds draw ROUND --add FILE...           add packages on disk, such as those of issue threads
    python -m research.rounds count                              precision and recall of each round; fail if one is open

A row of the ledger is an error or a warning of the audit, or a failure that another tool observed, before anything was
changed because of the round. A person fills in the verdict and its reason: `right`, `exaggerated` (true, but nothing
fails) or `false` for a finding; `reported`, `missed` or `no failure` for what another tool says. A package is drawn for
one round only, and never if the census has a wheel of its project. Run it as root: research/imports.py says why.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import re
import sys
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.audit.audit import audit_paths
from latebind.audit.engine.choice import Choice
from latebind.audit.engine.policy import Policy
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from machines import pinned
from research import census, imports, peers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from packaging.version import Version

ROUNDS = census.TRUTH / "rounds"
FINDINGS = ("right", "exaggerated", "false")
FAILURES = ("reported", "missed", "no failure")
_SECTION = """
## Packages that nobody had read

The packages of a round are drawn at random from all names of the package index and of npm, and none is drawn twice.
The counts are those of the audit on that day, before any check was changed because of the round. Other tools and
imports in the real interpreter show the failures. Before the first round, on 147 packages that the checks were not
tuned on, 16 of 23 errors were right (70%), 52 of 80 warnings (65%), and 40 of 52 failures were reported (77%). [The
ledgers](truth/rounds/1.csv) have every finding with its verdict.
"""
_SEVERITIES = ("error", "warning")
_LARGEST = 40_000_000
_AT_ONCE = 24
_NPM_PLATFORM = re.compile(
    r"[-_/](linux|darwin|win32|freebsd)-(x64|arm64|ia32|arm|x86_64)(-(gnu|musl|msvc|gnueabihf))?$"
)
_JSON = "application/vnd.pypi.simple.v1+json"


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
    drawing = commands.add_parser("draw", help="draw packages, and audit them")
    drawing.add_argument("round", type=int)
    drawing.add_argument("--seed", type=int, help="what the order of the names is drawn with")
    drawing.add_argument("--index", metavar="URL", help="the package index that the wheels come from")
    drawing.add_argument("--wheels", type=int, default=80, help="how many wheels to draw (default: 80)")
    drawing.add_argument("--npm", type=Path, metavar="FILE", help="names.json of the package all-the-package-names")
    drawing.add_argument("--add", type=Path, nargs="+", default=[], metavar="FILE", help="packages that are on disk")
    commands.add_parser("count", help="print precision and recall")
    arguments = parser.parse_args()
    if arguments.command == "count":
        return print_counts()
    ledger = ROUNDS / f"{arguments.round}.csv"
    measure_packages(ledger, arguments.add)
    if arguments.npm:
        measure_packages(ledger, draw_npm(arguments.npm, arguments.seed))
    if arguments.index:
        measure_packages(ledger, draw_wheels(arguments.index, arguments.seed, arguments.wheels))
    return 0


def draw_wheels(index: str, seed: int, count: int) -> Iterator[Path]:
    """Wheels with binaries, one of each project, in an order that the seed decides alone."""
    drawn = {project_of(observation.file) for path in ROUNDS.glob("*.csv") for observation in read_ledger(path)}
    drawn |= {project_of(wheel.file) for wheel in census.read_table()}
    names = sorted(set(re.findall(r'href="([^"/]+)/"', _read(f"{index}/", "text/html").decode())) - drawn)
    order = random.Random(seed)  # noqa: S311 -- a draw that can be repeated, no secret
    order.shuffle(names)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for first in range(0, len(names), _AT_ONCE * 4):
            batch = names[first : first + _AT_ONCE * 4]
            for name, files in zip(batch, pool.map(lambda name: list_wheels(index, name), batch), strict=True):
                if files:
                    yield _download(**order.choice(files))
                    print(f"{count} to go: {name}", file=sys.stderr)
                    count -= 1
                if not count:
                    return


def draw_npm(names: Path, seed: int, count: int = 20) -> Iterator[Path]:
    """npm packages that are named for a platform, as those with binaries are; one of each scope or prefix."""
    drawn = {project_of(observation.file) for path in ROUNDS.glob("*.csv") for observation in read_ledger(path)}
    candidates = [name for name in json.loads(names.read_text("utf-8")) if _NPM_PLATFORM.search(name)]
    order = random.Random(seed)  # noqa: S311 -- a draw that can be repeated, no secret
    order.shuffle(candidates)
    families = set()
    folder = pinned.cache() / "npm"
    folder.mkdir(exist_ok=True)
    for name in candidates:
        family = _NPM_PLATFORM.sub("", name)
        if family in families or not (archive := imports.download_npm(name, folder)):
            continue
        families.add(family)
        if archive.stat().st_size < _LARGEST and project_of(archive.name) not in drawn:
            yield archive
            count -= 1
        if not count:
            return


def list_wheels(index: str, name: str) -> list[dict[str, str]]:
    """The wheels for a platform in a project's newest release that has any."""
    try:
        files = json.loads(_read(f"{index}/{name}/", _JSON))["files"]
    except OSError:
        return []
    releases: dict[Version, list[dict[str, str]]] = {}
    for file in files:
        try:
            _, version, _, tags = parse_wheel_filename(file["filename"])
        except InvalidWheelFilename:
            continue
        if not file.get("yanked") and all(tag.platform != "any" for tag in tags) and file["size"] < _LARGEST:
            wheel = {"file": file["filename"], "url": file["url"], "sha256": file["hashes"]["sha256"]}
            releases.setdefault(version, []).append(wheel)
    return releases[max(releases)] if releases else []


def _download(file: str, url: str, sha256: str) -> Path:
    folder = pinned.cache() / "wheels"
    folder.mkdir(exist_ok=True)
    content = _read(url, "*/*") if not (folder / file).is_file() else (folder / file).read_bytes()
    if hashlib.sha256(content).hexdigest() != sha256:
        raise SystemExit(f"{file} has another hash than the index says")
    (folder / file).write_bytes(content)
    return folder / file


def _read(url: str, accept: str) -> bytes:
    if not url.startswith("https://"):
        raise SystemExit(f"{url}: packages come from an index by https")
    request = urllib.request.Request(url, headers={"Accept": accept})  # noqa: S310 -- https alone
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
        content: bytes = response.read()
    return content


def measure_packages(ledger: Path, paths: Iterable[Path]) -> None:
    """Audit each package and run the other tools on it. Writes the rows of a package as soon as it is measured."""
    ledger.parent.mkdir(exist_ok=True)
    measured = {observation.file for observation in read_ledger(ledger)} if ledger.is_file() else set()
    programs = pinned.environment("peers", peers.REQUIREMENTS)
    for path in paths:
        if path.name in measured:
            continue
        observations = [*list_findings(path), *list_failures(path, programs)]
        observations = observations or [Observation(path.name, _digest(path), "nothing", "", "")]
        is_new = not ledger.is_file()
        with ledger.open("a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([[field.name for field in fields(Observation)]] if is_new else [])
            writer.writerows(map(astuple, observations))


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


def project_of(file: str) -> str:
    """A package's project, by the name of its file."""
    return canonicalize_name(file.partition("-")[0]) if file.endswith(".whl") else re.sub(r"-\d.*", "", file)


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

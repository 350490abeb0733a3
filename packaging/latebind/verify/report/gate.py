"""The gate of a release: which test cases must have passed for which package files, and what blocks it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.targets import Rid, targets
from latebind.config.config import Config
from latebind.formats import ProjectFormat, find_format
from latebind.model import Case, Level, State, list_passes
from latebind.text import markdown_code, markdown_text, plural, printable
from latebind.verify.cases.expand import STAND_IN, Extent, expand_cases, list_lines, runtimes_on
from latebind.verify.cases.scenarios import SCENARIOS
from latebind.verify.cases.select import read_shard
from latebind.verify.declared import PYTHON, ConfiguredCase, Scenario, find_wanted, list_consumers, name_consumers
from latebind.verify.report.view import MARKS, words
from latebind.verify.run.index import Answers
from loadcheck import Kind
from loadcheck.facts import iter_members

if TYPE_CHECKING:
    from latebind.verify.report.data import CaseResult, Report

_LONGEST = 300
_NAMED = 3
"""How many subjects of one reason are named."""
_INSTEAD = "in place of others"
_OWN_PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFile:
    """A package that consumers install or build: its file name, kind and targets; no targets if it is for all."""

    name: str
    kind: Kind
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """A glob over ids of test cases that must have passed. One that matches none blocks, unless it may be empty."""

    glob: str
    may_be_empty: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """One reason for which the gate fails: a test case or a pattern, why, and what to do about it."""

    subject: str
    why: str
    fix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The required test cases of a report, in its order, and everything that blocks it."""

    required: tuple[CaseResult, ...]
    blockers: tuple[Blocker, ...]
    missing: int
    """How many required test cases are not in the report."""
    level: Level
    """What a test case must at least prove."""

    @property
    def exit_status(self) -> int:
        """1 while anything blocks it, else 0."""
        return int(bool(self.blockers))


def patterns(config: Config) -> tuple[Pattern, ...]:
    """What [verify].required asks for; by default what the table of scenarios does."""
    if config.document.verify.required:
        return tuple(Pattern(glob=glob) for glob in config.document.verify.required)
    return tuple(
        Pattern(
            glob=f"*/{rid}/*/{scenario.name}",
            # Where no runtime exists for a target, nothing is configured for it.
            may_be_empty=scenario.required == "where it is tried" or not runtimes_on(config, rid),
        )
        for rid in config.document.targets.include
        for scenario in _asked_for(config)
    )


def _asked_for(config: Config) -> list[Scenario]:
    """The scenarios that must pass; other ones show computing in a project whose only consumers are in C."""
    wanted = find_wanted(config, None)

    def is_tried(required: str) -> bool:
        candidates = (scenario for scenario in SCENARIOS if scenario.required == required)
        return any(name in wanted for scenario in candidates for name in name_consumers(scenario.consumers))

    without = "for every target" if is_tried(_INSTEAD) and not is_tried("for every target") else _INSTEAD
    return [scenario for scenario in SCENARIOS if scenario.required not in ("no", without)]


def judge_gate(
    config: Config, report: Report, level: Level | None = None, packages: Sequence[PackageFile] = ()
) -> Gate:
    """Compare a report with what the configuration requires: of its own test cases and of those of the report.

    `level` replaces the configuration's. `packages` are the files to release; others in the report count by name.
    """
    required_patterns, level = patterns(config), level or config.document.verify.level
    relevant = (
        result
        for result in report.cases
        if not _exists_nowhere(config, report, result) and not _is_outranked(result, level)
    )
    required = tuple(result for result in relevant if is_required(result.id, required_patterns))
    shares = tuple(_missing_shares(report))
    missing = [
        configured for configured in absent(config, report) if is_required(configured.case.id, required_patterns)
    ]
    here = {package.name for package in packages}
    others = ((package.file, find_format(package.file)) for package in report.packages if package.file not in here)
    files = [PackageFile(name=name, kind=form.kind) for name, form in others if form is not None and form.is_verified]
    blockers = [
        *_describe_stranger(config, report),
        *(blocker for pattern in required_patterns for blocker in _empty(pattern, report, missing)),
        *(shares or _absences(missing, report)),  # a missing share is reported once
        *_find_unverified(config, report, [*packages, *files], level),
        *(_describe_blocker(report, result, level) for result in required if result.outcome not in list_passes(level)),
    ]
    return Gate(required=required, blockers=tuple(blockers), missing=len(missing), level=level)


def _describe_stranger(config: Config, report: Report) -> Iterator[Blocker]:
    """Check that the report is about this project and version, where it names them."""
    source, project = report.source, config.project
    if (source.project or project.name, source.version or project.version) != (project.name, project.version):
        yield Blocker(
            subject="report",
            why=f"is about {source.project} {source.version}, not about {project.name} {project.version}",
            fix="Run latebind verify, or name the report of this version.",
        )


def absent(config: Config, report: Report) -> tuple[ConfiguredCase, ...]:
    """The test cases that `latebind verify` has for the targets of the configuration and that the report lacks.

    The index is not asked, so a test case counts as reported when a row answers its entry (`minimum`, `latest`). Those
    that only `--all` adds are not expected.
    """
    reported = {(*_coordinates(result.case), entry) for result in report.cases for entry in result.entries}
    pythons = [result.consumer.removeprefix(PYTHON) for result in report.cases if result.consumer.startswith(PYTHON)]
    scope = Extent(pythons=dict.fromkeys(targets(), (pythons or [_OWN_PYTHON])[0]), home=Rid(""))
    lines = list_lines(config, map(Rid, config.document.targets.include), scope)
    return tuple(
        replace(configured, entries=missing)
        for configured in expand_cases(lines, Answers())
        if (missing := tuple(e for e in configured.entries if (*_coordinates(configured.case), e) not in reported))
    )


def _exists_nowhere(config: Config, report: Report, result: CaseResult) -> bool:
    """Whether no machine could run a test case, and nothing is lost by it.

    The index may have no wheel of a further distribution, and none of an old version for a new Python. The ordinary
    distribution must then have been tried in that version with another Python.
    """
    if result.reason != "no-distribution" or not result.consumer.startswith(PYTHON):
        return False
    if result.runtime not in {runtime.traits.python.distribution for runtime in config.document.runtime}:
        return True
    others = (other for other in report.cases if other.outcome is not State.NOT_RUN)
    tried_entries = {
        entry for other in others if _coordinates(other.case) == _coordinates(result.case) for entry in other.entries
    }
    return bool(result.entries) and set(result.entries) <= tried_entries


def _is_outranked(result: CaseResult, level: Level) -> bool:
    """Whether a stand-in passed where the gate asks for the runtime itself, which has test cases of its own."""
    return result.runtime == STAND_IN and result.outcome.is_pass and result.outcome not in list_passes(level)


def _coordinates(case: Case) -> tuple[str, ...]:
    """What a test case is about, without the versions of runtime and interpreter."""
    return (case.kind, case.target, case.consumer_kind, case.runtime, case.scenario)


def is_required(id_: str, required_patterns: Iterable[Pattern]) -> bool:
    """Whether a test case must have passed, by its id."""
    return any(fnmatchcase(id_, pattern.glob) for pattern in required_patterns)


def _empty(pattern: Pattern, report: Report, missing: Sequence[ConfiguredCase]) -> Iterator[Blocker]:
    """A blocker for a pattern that matches no test case: none of the report, and none that is missing from it."""
    ids = (*(result.id for result in report.cases), *(configured.case.id for configured in missing))
    if not pattern.may_be_empty and not any(fnmatchcase(id_, pattern.glob) for id_ in ids):
        target = pattern.glob.split("/")[1] if pattern.glob.count("/") else ""
        is_exact = target and not set(target) & set("*?[")
        run = f"latebind verify{f' --target {target}' if is_exact else ''}"
        fix = f"Run {run} and merge its report, or fix the pattern."
        yield Blocker(subject=pattern.glob, why="is required, but matches no test case of the report", fix=fix)


def _absences(missing: Sequence[ConfiguredCase], report: Report) -> Iterator[Blocker]:
    """A blocker for each required test case that is absent, and one for all test cases of a target that has no row."""
    reported = {result.target for result in report.cases}
    subjects = {
        configured.case.target: f"*/{configured.case.target}/*"
        for configured in missing
        if configured.case.target not in reported
    }
    for subject, rid in dict.fromkeys(
        (subjects.get(configured.case.target, configured.case.id), configured.case.target) for configured in missing
    ):
        fix = f"Run latebind verify --target {rid} without -k, or merge the report that has the test case."
        yield Blocker(
            subject=subject,
            why="is required by the configuration, but is not in the report",
            fix=fix if rid in reported else _run_elsewhere(rid),
        )


def _run_elsewhere(rid: str) -> str:
    """How to add a target: into a folder of its own, since a second run replaces the first one's report."""
    return (
        f"Run latebind verify --target {rid} --output reports/{rid} with the same dist/ on a machine that "
        f"runs this target, then here: latebind verify --merge reports/verify.json reports/{rid}/verify.json"
    )


def _missing_shares(report: Report) -> Iterator[Blocker]:
    """Shares that are in no report: nobody would miss their test cases."""
    by_run: dict[tuple[str, str, int], set[int]] = {}
    for machine in report.machines:
        if machine.get("share"):
            index, number = read_shard(machine["share"])
            key = (machine.get("targets", machine.get("target", "")), machine.get("python", ""), number)
            by_run.setdefault(key, set()).add(index)
    for (rids, _, number), have in sorted(by_run.items()):
        for index in sorted(set(range(1, number + 1)) - have):
            options = " ".join(f"--target {rid}" for rid in rids.split())
            yield Blocker(
                subject=f"share {index}/{number} of {rids}",
                why="is not in the report",
                fix=f"Run latebind verify {options} --shard {index}/{number} (with --all if the other shares had it), "
                "and merge its report.",
            )


def _describe_blocker(report: Report, result: CaseResult, level: Level) -> Blocker:
    if result.outcome is State.FAILED:
        why = f"failed: {words(report, result)}"
        return Blocker(subject=result.id, why=why, fix=f"Read {result.log}, fix the cause, and run: latebind verify")
    minor = result.consumer.removeprefix(PYTHON)
    fixes = {
        "no-interpreter": f"Run: uv python install {minor}, and then: latebind verify. Or, if the packages are not for "
        f"Python {minor}, write a newer minimum below [[runtime]] of latebind.toml.",
        "no-distribution": "Below [[runtime]] of latebind.toml, write a minimum that the index has for this target and "
        "Python.",
    }
    fix = fixes.get(result.reason, "") * (result.outcome is State.NOT_RUN) or _run_elsewhere(result.target)
    if result.outcome.is_pass:
        return Blocker(subject=result.id, why=f"{result.outcome.value}; the gate requires the level {level}", fix=fix)
    return Blocker(subject=result.id, why=words(report, result), fix=fix)


def list_package_files(folder: Path) -> tuple[PackageFile, ...]:
    """The packages in a folder that test cases are about. Raises InputError for one that cannot be read."""
    forms = ((path, find_format(path.name)) for path in sorted(folder.iterdir()))
    return tuple(_read(path, form) for path, form in forms if form is not None and form.is_verified)


def _find_unverified(
    config: Config, report: Report, packages: Sequence[PackageFile], level: Level
) -> Iterator[Blocker]:
    """A blocker for each package file for whose kind and target no test case passed.

    Those that `release.unverified` names are left out.
    """
    # Such as a bundle of JARs.
    tested_as = {further: consumer.kind for consumer in list_consumers() for further in consumer.further_kinds}
    passed = {(result.kind, result.target) for result in report.cases if result.outcome in list_passes(level)}
    excused = config.document.release.unverified
    for package in packages:
        kind = tested_as.get(package.kind, package.kind)
        rids = [rid for rid in package.targets if rid in config.document.targets.include]
        is_tested = kind in {tested for tested, _ in passed}
        untested = [f"{kind}/{rid}" for rid in rids if (kind, rid) not in passed] if rids else [kind] * (not is_tested)
        for key in untested if kind not in excused else ():
            if key not in excused:
                reason = f'write unverified = {{ "{key}" = "REASON" }} below [release] of {config.file.name}'
                fix = f"{_advise_verifying(report, kind, key)}, or {reason}"
                why = f"not verified: no test case of {key} passed"
                yield Blocker(subject=package.name, why=why, fix=fix)


def _advise_verifying(report: Report, kind: str, key: str) -> str:
    """What to do about a kind of package, or a kind and a target, for which no test case passed."""
    results = [result for result in report.cases if key in (result.kind, f"{result.kind}/{result.target}")]
    if not any(result.kind == kind for result in report.cases):
        return "Add a consumer to [verify] and run latebind verify"
    if key != kind and all(result.outcome is State.NOT_RUN for result in results):
        return _run_elsewhere(key.removeprefix(f"{kind}/"))
    return f"Fix what the report says of {key}, and run latebind verify"


def _read(path: Path, form: ProjectFormat) -> PackageFile:
    rids = form.identify(path).targets
    if not rids and form.is_installed and not form.holds_packages:
        # An empty file in a target's folder says that there is nothing for it: NuGet's `_._`.
        members = ((targets().keys() & member.split("/")[:-1], read) for member, read in iter_members(path, form))
        folders = {rid for rids, read in members if rids and read() for rid in rids}
        rids = tuple(rid for rid in targets() if rid in folders)
    return PackageFile(name=path.name, kind=form.kind, targets=tuple(rids))


def group_blockers(blockers: Iterable[Blocker]) -> list[Blocker]:
    """The blockers with those of one reason and one thing to do as one: `12 of osx-arm64, such as wheel/...`."""
    groups: dict[tuple[str, str], list[str]] = {}
    for blocker in blockers:
        groups.setdefault((blocker.why, blocker.fix), []).append(blocker.subject)
    return [Blocker(subject=_sum_up(subjects), why=why, fix=fix) for (why, fix), subjects in groups.items()]


def _sum_up(subjects: Sequence[str]) -> str:
    if len(subjects) <= _NAMED:
        return ", ".join(subjects)
    rids = {f"{subject}/".split("/")[1] for subject in subjects}
    if len(rids) == 1 and rids <= targets().keys():
        return f"{plural(len(subjects), 'test case')} of {rids.pop()}, such as {subjects[0]}"
    return f"{', '.join(subjects[:_NAMED])} and {len(subjects) - _NAMED} more"


def gate_text(gate: Gate) -> str:
    """For a terminal: the required test cases; what blocks it, equal reasons once, and what to do; the count."""
    lines = [f"{MARKS[result.outcome]}  {result.id}" for result in gate.required]
    for blocker in group_blockers(gate.blockers):
        lines += ["", blocker.subject, f"  {blocker.why}", f"  {blocker.fix}"]
    return "".join(f"{printable(line)}\n" for line in [*lines, "", gate_count(gate)])


def gate_json(gate: Gate) -> str:
    """`{"required": [{"id", "outcome"}], "blockers": [{"subject", "why", "fix"}]}`, ending with a line feed."""
    document = {
        "required": [{"id": result.id, "outcome": result.outcome.value} for result in gate.required],
        "blockers": [asdict(blocker) for blocker in gate.blockers],
    }
    return json.dumps(document, indent=2) + "\n"


def gate_markdown(gate: Gate) -> str:
    """For a job's summary."""
    lines = [f"## {'❌' if gate.blockers else '✅'} latebind gate", "", gate_count(gate)]
    if gate.blockers:
        lines += ["", "| what | why | what next |", "|---|---|---|"]
        lines += [
            f"| {markdown_code(blocker.subject)} | {markdown_text(blocker.why, _LONGEST)} | "
            f"{markdown_text(blocker.fix, _LONGEST)} |"
            for blocker in group_blockers(gate.blockers)
        ]
    return "\n".join(lines) + "\n"


def gate_count(gate: Gate) -> str:
    """`Gate passed: 12 of 12 required test cases.`, `Gate failed: 11 of 12 required test cases passed, 1 problem.`."""
    passed = sum(result.outcome in list_passes(gate.level) for result in gate.required)
    ratio = f"{passed} of {plural(len(gate.required) + gate.missing, 'required test case')}"
    problems = plural(len(gate.blockers), "problem")
    return f"Gate failed: {ratio} passed, {problems}." if gate.blockers else f"Gate passed: {ratio}."


GATE_RENDERERS: Mapping[str, Callable[[Gate], str]] = {"text": gate_text, "json": gate_json, "markdown": gate_markdown}
"""What `--format` may say."""

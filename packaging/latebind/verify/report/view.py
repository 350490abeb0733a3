"""A report as readers see it: printable, with each test case in words, and as tables for each consumer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec
from packaging.version import InvalidVersion, Version

from latebind.backend.targets import Rid, targets
from latebind.model import State
from latebind.registry import collect
from latebind.text import plural, printable
from latebind.verify.report.changes import Changes, compare
from latebind.verify.report.data import NEWER_THAN, CaseResult, Report, list_reasons
from latebind.verify.report.timeline import Timeline, list_timelines


class Look(NamedTuple):
    """How a state looks."""

    mark: str
    """In a terminal."""
    color: str
    """In a terminal, the escape sequence before it."""
    sign: str
    """In Markdown."""
    style: str
    """Its class in HTML."""
    name: str
    """In the address of the page."""


LOOKS = {
    State.PASSED: Look("✓", "\033[32m", "✅", "p", "passed"),
    State.EMULATED: Look("≈", "\033[32m", "☑️", "e", "emulated"),
    State.GLUE: Look("○", "\033[36m", "🔘", "g", "glue"),
    State.FAILED: Look("✗", "\033[1;31m", "❌", "f", "failed"),
    State.NOT_RUN: Look("–", "\033[33m", "➖", "n", "not-run"),
}
MARKS = {state: look.mark for state, look in LOOKS.items()}
_SYNOPSIS = 300
_DEEP = re.compile(r"(?<![/:])(?:[A-Za-z]:)?(?:[/\\][^/\\\s\"'()]+){4,}")
"""A path of four parts or more."""
_SYSTEMS = {"linux": "Linux", "macos": "a Mac", "windows": "Windows"}
_ELSEWHERE = ("no-machine", "not-emulated")
"""Reasons that only another machine changes."""
_KIT = "latebind verify --kit DIR, and one command there"
_WHATS = {
    "no-program": "the programs that their summaries name",
    "no-index": "a package index that can be reached",
    "no-distribution": "versions that the index has for this Python and target",
    "no-compiler": "a C compiler",
    "no-interpreter": "the CPythons that their names have",
    "no-device": "a device for the execution provider",
    "no-host": "a program that can load the plugin",
    "no-main": "a consumer whose main() may be called",
    "no-access": "a working folder that other users can reach",
    "no-sandbox": "an emulated machine",
    "not-built": "the packages that were not made",
}
"""By reason, apart from those of ecosystems; for others, nothing would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A test case for readers."""

    number: int
    """Its place in the report."""
    result: CaseResult
    """The test case in the report."""
    shown: CaseResult
    """The test case with printable text."""
    words: str
    """How it ended, with all machines where they disagree."""
    runtime: str
    """`onnxruntime 1.31.1`, or `no runtime`."""
    machine: str
    """`machine 2, linux-arm64`."""

    @property
    def short(self) -> str:
        """How it ended, shortened."""
        return synopsis(self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The table of one consumer: a row for each scenario and runtime, a column for each target."""

    targets: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[tuple[Row, ...], ...]], ...]
    """Of each row the scenario, the runtime, and the test cases of each column: one or none, unless names of a report
    that latebind did not write differ only in what cannot be printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What every form of a report shows, as printable text."""

    report: Report
    rows: tuple[Row, ...]
    groups: tuple[tuple[str, str, Grid], ...]
    """The table of each package kind and consumer; these, targets and scenarios are in the order of the report."""
    count: str
    """How many test cases ended in each state, and why some were not run."""
    lacks: tuple[str, ...]
    """What would make the others run, and how many test cases each would add."""
    problem: str
    source: str
    """`latenn 0.1.0, commit 1f92bad, 2026-11-21`."""
    news: tuple[str, ...]
    """A sentence for each runtime version that is newer than any that latebind was tried with."""
    machines: tuple[tuple[str, dict[str, str]], ...]
    """What each machine is called, and what it is."""
    changes: Changes | None
    """What changed since an earlier report, if there is one."""
    timelines: tuple[Timeline, ...]

    def with_state(self, state: State) -> list[Row]:
        """The test cases that ended so."""
        return [row for row in self.rows if row.result.outcome is state]


def view_of(report: Report, earlier: Report | None = None) -> View:
    """Make everything of a report printable, say each thing once, and compare it with an earlier report."""
    shown = msgspec.convert(_make_printable(msgspec.to_builtins(report)), Report)
    names = _name_machines(shown)
    rows = tuple(
        Row(
            number=number,
            result=result,
            shown=case,
            words=_describe_end(case, names),
            runtime=_name_runtime(case.runtime, case.version),
            machine=names[case.machine] if names else "",
        )
        for number, (result, case) in enumerate(zip(report.cases, shown.cases, strict=True))
    )
    by_consumer: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_consumer.setdefault((row.shown.kind, row.shown.consumer), []).append(row)
    source = shown.source
    described = [f"{source.project} {source.version}".strip(), source.commit and f"commit {source.commit[:7]}"]
    return View(
        report=shown,
        rows=rows,
        groups=tuple((kind, name, _grid(own)) for (kind, name), own in by_consumer.items()),
        count=report_count(shown),
        lacks=tuple(_list_lacks(shown.cases)),
        problem=shown.problem,
        source=", ".join(filter(None, [*described, source.date])),
        news=tuple(_describe_new_runtimes(shown)),
        machines=tuple(zip(names, shown.machines, strict=True)),
        changes=compare(report, earlier),
        timelines=tuple(list_timelines(shown)),
    )


def _make_printable(value: Any) -> Any:
    """A value with printable text: all of it may be of another machine, or of a program."""
    if isinstance(value, dict):
        return {printable(key): _make_printable(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_make_printable(inner) for inner in value]
    return printable(value) if isinstance(value, str) else value


def report_count(report: Report) -> str:
    """How many test cases ended in each state, and why some were not run."""
    states = Counter(result.outcome for result in report.cases)
    emulated = f"{states[State.EMULATED]} passed emulated, " if states[State.EMULATED] else ""
    glue = f"{states[State.GLUE]} glue passed, " if states[State.GLUE] else ""
    text = f"{states[State.PASSED]} passed, {emulated}{glue}{states[State.FAILED]} failed, "
    text += f"{states[State.NOT_RUN]} not run"
    reasons = Counter(result.reason for result in report.cases if result.outcome is State.NOT_RUN)
    if reasons:
        text += " (" + ", ".join(f"{reason}: {number}" for reason, number in sorted(reasons.items())) + ")"
    return text


def words(report: Report, result: CaseResult) -> str:
    """How a test case ended, in words, with all machines where they disagree."""
    return _describe_end(result, _name_machines(report))


def _describe_end(result: CaseResult, machines: Sequence[str]) -> str:
    if result.outcome is State.NOT_RUN:
        headline = result.summary.partition("\n")[0].partition(": ")[0]
        why = synopsis(headline) or list_reasons().get(result.reason, "")
        text = f"not run: {result.reason} ({why})"
    else:
        text = result.reason if result.outcome is State.FAILED else result.summary
    if all(other.outcome is result.outcome for other in result.elsewhere):
        return text
    ends = [(result.machine, result.outcome), *((other.machine, other.outcome) for other in result.elsewhere)]
    return f"{text}\n({'; '.join(f'{state.value} on {machines[index]}' for index, state in ends)})"


def _name_machines(report: Report) -> list[str]:
    """`machine 2, linux-arm64`: counted from 1, as readers do."""
    targets = [machine.get("target", "") for machine in report.machines]
    return [f"machine {index}{target and f', {target}'}" for index, target in enumerate(targets, 1)]


def _describe_new_runtimes(report: Report) -> list[str]:
    newer = [result for result in report.cases if NEWER_THAN in result.facts and result.version]
    versions = {(result.runtime, result.version): str(result.facts[NEWER_THAN]) for result in newer}
    failed = {(result.runtime, result.version) for result in newer if result.outcome is State.FAILED}
    return [
        f"New: {name} {version}, {'with failures' if (name, version) in failed else 'which passed'}; "
        f"latebind was tried with versions up to {tried}."
        for (name, version), tried in versions.items()
    ]


def synopsis(text: str, longest: int = _SYNOPSIS) -> str:
    """A long text, shortened: first to the ends of its paths, then by its middle."""
    if len(text) > longest:
        text = _DEEP.sub(lambda match: "…/" + "/".join(re.split(r"[/\\]", match[0])[-2:]), text)
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half].rstrip()} … {text[-half:].lstrip()}"


def _grid(rows: Sequence[Row]) -> Grid:
    targets = tuple(dict.fromkeys(row.shown.target for row in rows))
    scenarios = {name: place for place, name in enumerate(dict.fromkeys(row.shown.scenario for row in rows))}
    by_place: dict[tuple[str, str, str], dict[str, list[Row]]] = {}
    for row in rows:
        place = by_place.setdefault((row.shown.scenario, row.shown.runtime, row.shown.version), {})
        place.setdefault(row.shown.target, []).append(row)
    ordered = sorted(by_place, key=lambda place: (scenarios[place[0]], place[1], _order(place[2])))
    table = (
        (place[0], _name_runtime(*place[1:]), tuple(tuple(by_place[place].get(rid, ())) for rid in targets))
        for place in ordered
    )
    return Grid(targets=targets, rows=tuple(table))


def _name_runtime(runtime: str, version: str) -> str:
    return f"{runtime} {version}".strip() or "no runtime"


def _order(version: str) -> tuple[bool, Version | str]:
    """Versions in their own order, then words such as `latest`."""
    try:
        return (False, Version(version))
    except InvalidVersion:
        return (True, version)


def _list_lacks(results: Iterable[CaseResult]) -> list[str]:
    """What would make test cases run that were not run, with their number; what would add the most first.

    `a Mac (arm64): 40 test cases (latebind verify --kit DIR, and one command there)`
    """
    lacks = Counter(_name_lack(result) for result in results if result.outcome is State.NOT_RUN).most_common()
    return [f"{what}: {plural(number, 'test case')}{how and f' ({how})'}" for (what, how), number in lacks]


def _name_lack(result: CaseResult) -> tuple[str, str]:
    """`a Mac (arm64)` or `a .NET SDK`, and how to get the test case run; "" where that says it."""
    if result.reason in _ELSEWHERE:
        platform, processor = targets().get(Rid(result.target)), ", ".join(result.target.split("-")[1:])
        return f"{_SYSTEMS[platform.system]} ({processor})" if platform else result.target, _KIT
    whats = {**_WHATS, **{name: what for name, _, what in collect("files", "REASONS")}}
    return whats.get(result.reason) or f"nothing: {list_reasons().get(result.reason, result.reason)}", ""

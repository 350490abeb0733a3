"""The verification report as data, of one machine or several: its JSON, and the JSON's schema."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, TypeAlias

import msgspec
from msgspec import Meta
from packaging.version import Version

from latebind.errors import INPUT_ERRORS, NOT_RUN_REASONS, InputError
from latebind.model import Artifact, Case, Outcome, State, list_passes
from latebind.registry import collect
from latebind.system.decoding import DECODE_ERRORS
from latebind.text import plural
from latebind.verify.cases.scenarios import SCENARIOS
from latebind.verify.cases.select import read_shard
from loadcheck import Kind

_PROOFS = frozenset(scenario.name for scenario in SCENARIOS if scenario.proves)
REPORT = "verify.json"
_PROBLEM = "problem"
"""The key in the JSON document for what follows from the rest of it."""
NEWER_THAN = "newer_than"
"""The fact of a test case whose runtime has a newer minor version than any that latebind was tried with: that one."""
LOG_BYTES = 64 << 20
"""A consumer in a loop could fill the disk; a report is copied between machines."""
_Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=10**9)]
_HASH = r"^[0-9a-f]{64}$"
_ADVICE = "Run latebind verify, or give a verify.json that it wrote."


@cache
def list_reasons() -> Mapping[str, str]:
    """The closed list of reasons for which a test case or a step may be *not run*, and what each of them means."""
    return {**{name: meaning for name, meaning, _ in collect("files", "REASONS")}, **NOT_RUN_REASONS}


class Provenance(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which sources were verified."""

    project: str = ""
    version: str = ""
    commit: Annotated[str, Meta(description="the full hash; empty when the sources are not those of a commit")] = ""
    date: Annotated[str, Meta(description="of SOURCE_DATE_EPOCH, or of the commit: 2026-11-21")] = ""
    sources: Annotated[
        str, Meta(description="SHA-256 of what the packages were made from; empty when latebind pack did not make them")
    ] = ""


class PackageHash(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A package that was verified, by the hash of its bytes."""

    file: str
    sha256: Annotated[str, Meta(pattern=_HASH)]


class Elsewhere(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a test case ended on another machine than the one whose outcome counts."""

    machine: int
    outcome: State
    reason: str = ""


class CaseResult(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A test case and how it ended."""

    id: Annotated[str, Meta(description="kind/target/consumer/runtime-version/scenario")]
    kind: Kind
    target: str
    consumer: str
    runtime: str
    version: str
    scenario: str
    outcome: State
    reason: Annotated[str, Meta(description="if not run: one of the listed reasons; if failed: what was wrong")]
    summary: str
    seconds: _Seconds
    started: Annotated[
        _Seconds | None, Meta(description="seconds from the begin of the run; null for a result of an earlier run")
    ] = None
    log: Annotated[str, Meta(description="relative to the report; empty when nothing ran")]
    cached: bool
    facts: dict[str, Any]
    entries: Annotated[
        tuple[str, ...],
        Meta(description="the entries of [verify].runtimes that the test case covers; [''] when it needs no version"),
    ] = ()
    machine: Annotated[int, Meta(description="index of the machine whose outcome counts, in the list `machines`")] = 0
    elsewhere: Annotated[
        tuple[Elsewhere, ...], Meta(description="how the test case ended on other machines, in a merged report")
    ] = ()

    @property
    def case(self) -> Case:
        """The test case that the row is about."""
        return Case(**{name: getattr(self, name) for name in Case.__slots__})


LogReader: TypeAlias = Callable[[CaseResult], str]
"""Gives the text of a test case's log, "" for none."""


class Report(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A whole report. Of each machine it has what it is, and in `share` (`2/5`) and `targets` which part it ran."""

    packages: tuple[PackageHash, ...]
    cases: tuple[CaseResult, ...] = msgspec.field(name="cases")
    machines: tuple[dict[str, str], ...]
    source: Provenance = Provenance()

    @property
    def problem(self) -> str:
        """Why the verification failed, "" when it did not: a test case failed, or none loaded and computed anything.

        Refusing a runtime proves little, and so does running without the real one. A share may have none that could
        prove more; the gate judges all shares.
        """
        failed = sum(result.outcome is State.FAILED for result in self.cases)
        if failed:
            return f"{plural(failed, 'test case')} failed"
        proofs = [result for result in self.cases if result.scenario in _PROOFS]
        is_share = len(self.machines) == 1 and "share" in self.machines[0]
        if any(result.outcome in list_passes("emulated") for result in proofs) or (is_share and not proofs):
            return ""
        if not self.cases:
            return "no test case was run"
        if not proofs:
            return "no test case that loads the library was selected"
        reasons = sorted({list_reasons()[result.reason] for result in proofs if result.outcome is State.NOT_RUN})
        why = "; ".join(reasons) or "none of the machines runs the real runtime"
        return f"no test case that loads the library could run: {why}"

    @property
    def exit_status(self) -> int:
        """1 when there is a problem, else 0."""
        return int(bool(self.problem))


def report_of(
    source: Provenance,
    artifacts: Sequence[Artifact],
    outcomes: Sequence[Outcome],
    machine: Mapping[str, str],
    starts: Mapping[str, float],
) -> Report:
    """The report of what this machine verified. `starts` has when test cases began, by id, as `CaseResult.started`."""
    return Report(
        packages=tuple(PackageHash(artifact.path.name, artifact.sha256) for artifact in artifacts),
        cases=tuple(_result(outcome, starts.get(outcome.case.id)) for outcome in outcomes),
        machines=(dict(machine),),
        source=source,
    )


def is_newer_minor(version: str, tried: str) -> bool:
    """Whether a version has a later minor version than another; False for no version."""
    return bool(version) and Version(version).release[:2] > Version(tried).release[:2]


def report_json(report: Report) -> str:
    """The report as one JSON document, ending with a line feed. Its shape is `verify_schema()`."""
    document = {_PROBLEM: report.problem, **msgspec.to_builtins(report)}
    text = json.dumps(document, indent=2, ensure_ascii=False)
    # Output that is not text became lone surrogates, which JSON and UTF-8 cannot hold: they are escaped.
    return re.sub("[\ud800-\udfff]", lambda match: f"\\\\u{ord(match[0]):04x}", text) + "\n"


def read_report(file: Path) -> Report:
    """Read a report that `report_json` wrote. Raises InputError when it cannot be read, or is invalid."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(error.strerror or str(error), where=str(file), advice=_ADVICE) from error
    return parse_report(data, file)


def parse_report(data: bytes, file: Path) -> Report:
    """The report that a file has. Raises InputError when it is invalid."""
    try:
        report = _decode(data)
    except DECODE_ERRORS as error:
        raise InputError(f"is not a verification report: {error}", where=str(file), advice=_ADVICE) from error
    if problem := _problem(report):
        raise InputError(f"is not a verification report: {problem}", where=str(file), advice=_ADVICE)
    return report


def read_log(folder: Path, result: CaseResult) -> str:
    """A test case's log in a folder, "" when it has none. Links that lead out of the folder are not followed."""
    file = folder / result.log
    try:
        if not result.log or not file.is_file() or not file.resolve().is_relative_to(folder.resolve()):
            return ""
        with file.open("rb") as stream:
            return stream.read(LOG_BYTES).decode("utf-8", "backslashreplace")
    except OSError:
        return ""


def _decode(raw: bytes) -> Report:
    """The report, without what report_json() derives from it. Raises DecodeError."""
    document = msgspec.json.decode(raw)
    if isinstance(document, dict):
        document.pop(_PROBLEM, None)
    return msgspec.convert(document, Report)


def _problem(report: Report) -> str:
    """What is wrong beyond the types; "" when nothing is."""
    if len({result.id for result in report.cases}) < len(report.cases):
        return "a test case occurs twice"
    if len({package.file for package in report.packages}) < len(report.packages):
        return "a package occurs twice"
    problems = (problem for result in report.cases if (problem := _row_problem(result, len(report.machines))))
    return next(problems, "") or next((text for text in map(_share_problem, report.machines) if text), "")


def _row_problem(result: CaseResult, machines: int) -> str:
    log = PurePosixPath(result.log)
    if result.id != result.case.id:
        return f"the id {result.id} does not match its test case"
    if result.outcome is State.NOT_RUN and result.reason not in list_reasons():
        return f"{result.id}: {result.reason!r} is not a known reason"
    if not all(0 <= index < machines for index in (result.machine, *(end.machine for end in result.elsewhere))):
        return f"{result.id} names a machine that does not exist"
    if result.log and (log.parts[:1] != ("logs",) or ".." in log.parts or set("\\\0") & set(result.log)):
        return f"{result.id}: the log {result.log!r} is not in logs/"
    return ""


def _share_problem(machine: dict[str, str]) -> str:
    try:
        read_shard(machine.get("share") or "1/1")
    except INPUT_ERRORS as error:
        return error.message
    return ""


def verify_schema() -> dict[str, Any]:
    """JSON Schema of the report."""
    schema = msgspec.json.schema(Report)
    parts = schema["$defs"]
    parts["Report"]["properties"][_PROBLEM] = {
        "type": "string",
        "description": "why the verification failed; empty when it passed",
    }
    for part in parts.values():
        if "properties" in part:
            part["required"] = list(part["properties"])
    parts["CaseResult"] |= {
        "if": {"properties": {"outcome": {"const": State.NOT_RUN.value}}},
        "then": {"properties": {"reason": {"enum": list(list_reasons())}}},
    }
    reasons = "; ".join(f"{key}: {meaning}" for key, meaning in list_reasons().items())
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "latebind verify report",
        "description": f"Reasons of `not run`: {reasons}",
        **schema,
    }


def _result(outcome: Outcome, started: float | None) -> CaseResult:
    case = {name: getattr(outcome.case, name) for name in Case.__slots__}
    same = {name: getattr(outcome, name) for name in ("reason", "summary", "seconds", "log", "cached", "entries")}
    return CaseResult(
        id=outcome.case.id, outcome=outcome.state, started=started, facts=dict(outcome.facts), **case, **same
    )

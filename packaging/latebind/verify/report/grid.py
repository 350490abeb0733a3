"""A report as tables: for each consumer one of targets and runtime versions, and one of the other scenarios."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from latebind.errors import NOT_RUN_REASONS
from latebind.model import State
from latebind.verify.cases.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from latebind.verify.report.report import CaseResult, Report

_BY_VERSION = frozenset(scenario.name for scenario in SCENARIOS if scenario.versions == "all")
"""Scenarios with a table of versions of their own."""
_SYNOPSIS = 300
_DEEP = re.compile(r"(?<![/:])(?:[A-Za-z]:)?(?:[/\\][^/\\\s\"'()]+){4,}")
"""A path of four parts or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """One table: its rows are targets; each place has the cells of its row and column, usually one."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[CaseResult, ...], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All of one package kind and consumer."""

    kind: str
    consumer: str
    grids: tuple[Grid, ...]


def groups(report: Report) -> tuple[Group, ...]:
    """The report as tables, with consumers and targets in the order of the report and versions in their own order."""
    by_consumer: dict[tuple[str, str], list[CaseResult]] = {}
    for result in report.cases:
        by_consumer.setdefault((result.kind, result.consumer), []).append(result)
    return tuple(
        Group(kind=kind, consumer=name, grids=_grids(results)) for (kind, name), results in by_consumer.items()
    )


def words(report: Report, result: CaseResult) -> str:
    """How a test case ended, in words, with all machines where they disagree."""
    if result.outcome is State.NOT_RUN:
        headline = result.summary.partition("\n")[0].partition(": ")[0]
        why = synopsis(headline) or NOT_RUN_REASONS.get(result.reason, "")
        text = f"not run: {result.reason} ({why})"
    else:
        text = result.reason if result.outcome is State.FAILED else result.summary
    if all(other.outcome is result.outcome for other in result.elsewhere):
        return text
    ends = [(result.machine, result.outcome), *((other.machine, other.outcome) for other in result.elsewhere)]
    return f"{text}\n({'; '.join(f'{state.value} on {machine_name(report, index)}' for index, state in ends)})"


def synopsis(text: str, longest: int = _SYNOPSIS) -> str:
    """A long text, shortened: first to the ends of its paths, then by its middle."""
    if len(text) > longest:
        text = _DEEP.sub(lambda match: "…/" + "/".join(re.split(r"[/\\]", match[0])[-2:]), text)
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half].rstrip()} … {text[-half:].lstrip()}"


def machine_name(report: Report, index: int) -> str:
    """`machine 2, linux-arm64`: counted from 1, as readers do."""
    target = report.machines[index].get("target", "")
    return f"machine {index + 1}{', ' if target else ''}{target}"


def source_line(report: Report) -> str:
    """`latenn 0.1.0, commit 1f92bad, 2026-11-21`."""
    source = report.source
    name = f"{source.project} {source.version}".strip()
    return ", ".join(filter(None, [name, source.commit and f"commit {source.commit[:7]}", source.date]))


def runtime(result: CaseResult) -> str:
    """`onnxruntime 1.31.1`, or `no runtime`."""
    return f"{result.runtime} {result.version}".strip() or "no runtime"


def _grids(results: Sequence[CaseResult]) -> tuple[Grid, ...]:
    others = [result for result in results if result.scenario not in _BY_VERSION]
    by_runtime: dict[tuple[str, str], list[CaseResult]] = {}
    for result in results:
        if result.scenario in _BY_VERSION:
            by_runtime.setdefault((result.runtime, result.scenario), []).append(result)
    tables = [
        _grid(
            f"{scenario} with {runtime_}" if runtime_ else scenario,
            by_runtime[runtime_, scenario],
            _version,
            key=_order,
        )
        for runtime_, scenario in sorted(by_runtime)
    ]
    return (*tables, *([_grid("other scenarios", others, lambda result: result.scenario)] if others else []))


def _version(result: CaseResult) -> str:
    return result.version or "no runtime"


def _grid(
    title: str,
    results: Sequence[CaseResult],
    column: Callable[[CaseResult], str],
    *,
    key: Callable[[str], object] | None = None,
) -> Grid:
    cells: dict[tuple[str, str], list[CaseResult]] = {}
    for result in results:
        cells.setdefault((result.target, column(result)), []).append(result)
    targets = list(dict.fromkeys(result.target for result in results))
    columns = list(dict.fromkeys(column(result) for result in results))
    if key is not None:
        columns.sort(key=key)  # type: ignore[arg-type]  # _order gives what sorts
    table = ((rid, tuple(tuple(cells.get((rid, name), ())) for name in columns)) for rid in targets)
    return Grid(title=title, columns=tuple(columns), rows=tuple(table))


def _order(version: str) -> tuple[bool, Version | str]:
    """Versions in their own order, then words such as `latest`."""
    try:
        return (False, Version(version))
    except InvalidVersion:
        return (True, version)

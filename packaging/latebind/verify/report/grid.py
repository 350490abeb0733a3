"""A report as tables: for each consumer one of targets and runtime versions, and one of the other scenarios."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from latebind.model import NOT_RUN_REASONS, State
from latebind.verify.plan.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from latebind.verify.report.report import CellResult, Report

_BY_VERSION = frozenset(row.name for row in SCENARIOS if row.versions == "all")
"""Scenarios with a table of versions of their own."""
_SYNOPSIS = 300
_DEEP = re.compile(r"(?<![/:])(?:[A-Za-z]:)?(?:[/\\][^/\\\s\"'()]+){4,}")
"""A path of four parts or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """One table: its rows are targets; each place has the cells of its row and column, usually one."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[CellResult, ...], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All of one package kind and consumer."""

    kind: str
    consumer: str
    grids: tuple[Grid, ...]


def groups(report: Report) -> tuple[Group, ...]:
    """The report as tables, with consumers and targets in the order of the report and versions in their own order."""
    found: dict[tuple[str, str], list[CellResult]] = {}
    for row in report.cells:
        found.setdefault((row.kind, row.consumer), []).append(row)
    return tuple(Group(kind=kind, consumer=name, grids=_grids(rows)) for (kind, name), rows in found.items())


def words(report: Report, row: CellResult) -> str:
    """How a cell ended, in words, with all machines where they disagree."""
    if row.outcome is State.NOT_RUN:
        why = synopsis(row.summary.partition(": ")[0]) or NOT_RUN_REASONS.get(row.reason, "")
        text = f"not run: {row.reason} ({why})"
    else:
        text = row.reason if row.outcome is State.FAILED else row.summary
    if all(other.outcome is row.outcome for other in row.elsewhere):
        return text
    ends = [(row.machine, row.outcome), *((other.machine, other.outcome) for other in row.elsewhere)]
    return f"{text}\n({'; '.join(f'{state.value} on {machine_name(report, index)}' for index, state in ends)})"


def synopsis(text: str, longest: int = _SYNOPSIS) -> str:
    """A long text, shortened: first to the ends of its paths, then by its middle."""
    if len(text) > longest:
        text = _DEEP.sub(lambda found: "…/" + "/".join(re.split(r"[/\\]", found[0])[-2:]), text)
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


def runtime(row: CellResult) -> str:
    """`onnxruntime 1.31.1`, or `no runtime`."""
    return f"{row.runtime} {row.version}".strip() or "no runtime"


def _grids(rows: Sequence[CellResult]) -> tuple[Grid, ...]:
    others = [row for row in rows if row.scenario not in _BY_VERSION]
    found: dict[tuple[str, str], list[CellResult]] = {}
    for row in rows:
        if row.scenario in _BY_VERSION:
            found.setdefault((row.runtime, row.scenario), []).append(row)
    tables = [
        _grid(f"{scenario} with {runtime_}" if runtime_ else scenario, found[runtime_, scenario], _version, key=_order)
        for runtime_, scenario in sorted(found)
    ]
    return (*tables, *([_grid("other scenarios", others, lambda row: row.scenario)] if others else []))


def _version(row: CellResult) -> str:
    return row.version or "no runtime"


def _grid(
    title: str,
    rows: Sequence[CellResult],
    column: Callable[[CellResult], str],
    *,
    key: Callable[[str], object] | None = None,
) -> Grid:
    places: dict[tuple[str, str], list[CellResult]] = {}
    for row in rows:
        places.setdefault((row.target, column(row)), []).append(row)
    targets = list(dict.fromkeys(row.target for row in rows))
    columns = list(dict.fromkeys(column(row) for row in rows))
    if key is not None:
        columns.sort(key=key)  # type: ignore[arg-type]  # _order gives what sorts
    table = ((rid, tuple(tuple(places.get((rid, name), ())) for name in columns)) for rid in targets)
    return Grid(title=title, columns=tuple(columns), rows=tuple(table))


def _order(version: str) -> tuple[bool, Version | str]:
    """Versions in their own order, then words such as `latest`."""
    try:
        return (False, Version(version))
    except InvalidVersion:
        return (True, version)

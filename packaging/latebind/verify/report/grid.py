"""The matrix of a report: for each consumer a table of targets and runtime versions, and one of the other scenarios."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from latebind.model import NOT_RUN_REASONS, State

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from latebind.verify.report.report import Report, Row

_WORKS = "works"
_SYNOPSIS = 300
_DEEP = re.compile(r"(?<![/:])(?:[A-Za-z]:)?(?:[/\\][^/\\\s\"'()]+){4,}")
"""A path of four parts or more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """One table: rows are targets; each place holds the cells of its row and column, mostly one."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Row, ...], ...]], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """All of one package kind and consumer."""

    kind: str
    consumer: str
    grids: tuple[Grid, ...]


def groups(report: Report) -> tuple[Group, ...]:
    """The report as tables, consumers and targets in the order of the report, versions by their own order."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in report.cells:
        found.setdefault((row.kind, row.consumer), []).append(row)
    return tuple(Group(kind=kind, consumer=name, grids=_grids(rows)) for (kind, name), rows in found.items())


def words(report: Report, row: Row) -> str:
    """What became of a cell, in words for a reader, with all machines named where they disagree."""
    if row.outcome is State.NOT_RUN:
        text = f"not run: {row.reason} ({NOT_RUN_REASONS.get(row.reason, row.summary)})"
    else:
        text = row.reason if row.outcome is State.FAILED else row.summary
    if all(other.outcome is row.outcome for other in row.elsewhere):
        return text
    ends = [(row.machine, row.outcome), *((other.machine, other.outcome) for other in row.elsewhere)]
    return f"{text}\n({'; '.join(f'{state.value} on {machine_name(report, index)}' for index, state in ends)})"


def synopsis(text: str, longest: int = _SYNOPSIS) -> str:
    """A long text with the ends of its paths alone, then without its middle: what it is about and how it ended."""
    if len(text) > longest:
        text = _DEEP.sub(lambda found: "…/" + "/".join(re.split(r"[/\\]", found[0])[-2:]), text)
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half].rstrip()} … {text[-half:].lstrip()}"


def machine_name(report: Report, index: int) -> str:
    """`machine 2, linux-arm64`: counted from 1, as readers do."""
    target = report.machines[index].get("target", "")
    return f"machine {index + 1}{', ' if target else ''}{target}"


def runtime(row: Row) -> str:
    """`onnxruntime 1.31.1`, or `no runtime`."""
    return f"{row.runtime} {row.version}".strip() or "no runtime"


def _grids(rows: Sequence[Row]) -> tuple[Grid, ...]:
    works = [row for row in rows if row.scenario == _WORKS]
    others = [row for row in rows if row.scenario != _WORKS]
    tables = [
        _grid(f"works with {name}" if name else "works", found, _version, key=_order)
        for name, found in _by_runtime(works)
    ]
    return (*tables, *([_grid("other scenarios", others, lambda row: row.scenario)] if others else []))


def _by_runtime(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    ordered = sorted(rows, key=lambda row: row.runtime)
    return [(name, list(found)) for name, found in groupby(ordered, key=lambda row: row.runtime)]


def _version(row: Row) -> str:
    return row.version or "no runtime"


def _grid(
    title: str, rows: Sequence[Row], column: Callable[[Row], str], *, key: Callable[[str], object] | None = None
) -> Grid:
    places: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        places.setdefault((row.target, column(row)), []).append(row)
    targets = list(dict.fromkeys(row.target for row in rows))
    columns = list(dict.fromkeys(column(row) for row in rows))
    if key is not None:
        columns.sort(key=key)  # type: ignore[arg-type]  # _order gives what sorts
    table = ((rid, tuple(tuple(places.get((rid, name), ())) for name in columns)) for rid in targets)
    return Grid(title=title, columns=tuple(columns), rows=tuple(table))


def _order(version: str) -> tuple[bool, Version | str]:
    """Versions by their own order, words such as `latest` after them."""
    try:
        return (False, Version(version))
    except InvalidVersion:
        return (True, version)

"""Which test cases ended differently than in the report of an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.model import State
from latebind.text import printable

if TYPE_CHECKING:
    from latebind.verify.report.data import Report

_KINDS = ("newly failed", "newly passed", "no longer run", "passed on another level", "new", "gone")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What changed since an earlier report."""

    ids: Mapping[str, tuple[str, ...]]
    """The printable ids of the test cases, by how they changed; only changes that occurred."""

    @property
    def summary(self) -> str:
        """`1 newly failed, 3 new`; "" for no change."""
        return ", ".join(f"{len(ids):,} {kind}" for kind, ids in self.ids.items())


def compare(report: Report, earlier: Report | None) -> Changes | None:
    """What changed since an earlier report, by ids; None without one, or if it is about another project."""
    if earlier is None or earlier.source.project != report.source.project:
        return None
    before = {result.id: result.outcome for result in earlier.cases}
    now = {result.id: result.outcome for result in report.cases}
    kinds: dict[str, list[str]] = {kind: [] for kind in _KINDS}
    for name, state in now.items():
        if kind := _name_change(before.get(name), state):
            kinds[kind].append(name)
    kinds["gone"] = [name for name in before if name not in now]
    return Changes(ids={kind: tuple(map(printable, names)) for kind, names in kinds.items() if names})


def _name_change(before: State | None, now: State) -> str:
    """How the end of a test case changed; "" if it did not."""
    if before is None:
        return "new"
    if before is now:
        return ""
    if now.is_pass:
        return "passed on another level" if before.is_pass else "newly passed"
    return "newly failed" if now is State.FAILED else "no longer run"

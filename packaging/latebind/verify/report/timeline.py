"""Which test cases decided how long a run took."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.backend.notes import duration
from latebind.text import plural

if TYPE_CHECKING:
    from latebind.verify.report.data import CaseResult, Report

_SLACK = 0.02
"""Both the start and the duration of a test case are rounded to 0.01 s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """When the test cases of one run began, and which of them decided how long it took."""

    machine: int
    """Its index in the report."""
    seconds: float
    """From the begin of the run to the end of its last test case."""
    summary: str
    """`40 test cases (12 min 3 s of work) took 4 min 10 s.`"""
    chain: tuple[CaseResult, ...]
    """The critical path: the test case that ended last, before it the one whose end it waited for, and so on; the
    first of the run is first."""

    @property
    def meaning(self) -> str:
        """What the critical path shows."""
        if len(self.chain) == 1:
            return "One test case ran until the end:"
        return "Each of these test cases began when the one before had ended:"

    def shorten(self, number: int) -> tuple[list[CaseResult], str]:
        """The longest test cases of the critical path, in its order, and a sentence about the others."""
        longest = sorted(self.chain, key=lambda result: result.seconds, reverse=True)
        kept, others = {result.id for result in longest[:number]}, longest[number:]
        took = duration(sum(result.seconds for result in others))
        rest = f"{plural(len(others), 'shorter one')} in between took {took} together." if others else ""
        return [result for result in self.chain if result.id in kept], rest


def list_timelines(report: Report) -> list[Timeline]:
    """The timelines of the machines of a report; the longest is first.

    Left out are machines of which the report lacks times: where most test cases are remembered from earlier runs, and
    where those of another machine count.
    """
    replaced = {end.machine for result in report.cases for end in result.elsewhere}
    timed: dict[int, list[CaseResult]] = {}
    for result in report.cases:
        if result.started is not None and result.machine not in replaced:
            timed.setdefault(result.machine, []).append(result)
    lines = (_describe(machine, cases) for machine, cases in sorted(timed.items()) if len(cases) > 1)
    return sorted(lines, key=lambda line: line.seconds, reverse=True)


def _describe(machine: int, cases: Sequence[CaseResult]) -> Timeline:
    seconds = max(map(_find_end, cases))
    work = duration(sum(result.seconds for result in cases))
    return Timeline(
        machine=machine,
        seconds=seconds,
        summary=f"{plural(len(cases), 'test case')} ({work} of work) took {duration(seconds)}",
        chain=_find_chain(cases),
    )


def _find_chain(cases: Sequence[CaseResult]) -> tuple[CaseResult, ...]:
    """The test cases that followed one another up to the end of the run.

    A test case begins when a worker is free, so it waited for the one that ended last before it.
    """
    by_end = sorted(cases, key=_find_end)
    ends = [_find_end(result) for result in by_end]
    at, chain = len(by_end) - 1, [by_end[-1]]
    while (at := min(at, bisect_right(ends, (chain[-1].started or 0.0) + _SLACK)) - 1) >= 0:
        chain.append(by_end[at])
    return tuple(reversed(chain))


def _find_end(result: CaseResult) -> float:
    return (result.started or 0.0) + result.seconds

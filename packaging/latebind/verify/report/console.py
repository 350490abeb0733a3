"""Renders a verification report for a terminal: each cause once, with the test cases that it ended."""

from __future__ import annotations

import io
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.model import State
from latebind.system.log import LOG
from latebind.text import decisive_line
from latebind.verify.report.grid import synopsis, words
from latebind.verify.report.render import MARKS, report_count
from latebind.verify.report.report import describe_new_runtimes
from loadcheck.text import DOCS, plural, printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from latebind.verify.report.report import CaseResult, Report

_STYLES = {
    State.PASSED: "green",
    State.EMULATED: "green",
    State.GLUE: "cyan",
    State.FAILED: "bold red",
    State.NOT_RUN: "yellow",
}
_LONGEST, _SYNOPSIS = 1500, 200
_SHOWN = 5
_EXCEPTION = re.compile(r"[\w.]*(?:Error|Exception|Warning|Exit|Interrupt)\b")
_ORDER = (State.PASSED, State.EMULATED, State.GLUE, State.NOT_RUN, State.FAILED)
"""What matters most is next to the prompt."""
_ADVICE = {
    "no-index": "Check the network, unset UV_OFFLINE, or set UV_DEFAULT_INDEX to a mirror. For packages that "
    "uv has cached, none of this is necessary.",
    "no-machine": "Verify on a machine of that target, in CI (latebind ci), from a kit (latebind verify --kit DIR) or "
    f"on an emulator: {DOCS}/verify.md#machines",
}
"""What to do next, by the reason for which test cases were not run."""


def report_text(report: Report, folder: Path | None = None) -> str:
    """What failed and what was not run, by cause, and the count; in color where the terminal and NO_COLOR allow it.

    `folder` is where the report's files are. Test cases that passed are listed with `--verbose`: others have been
    shown when they ended.
    """
    from rich.console import Console  # noqa: PLC0415  # slow to import, and only this needs it
    from rich.text import Text  # noqa: PLC0415

    buffer = io.StringIO()
    console = Console(file=buffer, soft_wrap=True, highlight=False, force_terminal=Console().is_terminal)
    for state, lines in _paragraphs(report, folder):
        mark = Text(MARKS[state], style=_STYLES[state])
        console.print(Text.assemble(mark, " ", printable("\n".join(lines))))
    place = f". Report: {_show_path(folder / 'verify.html')}" if folder else ""
    text = "\n".join([f"{_count(report)}{place}", *map(printable, describe_new_runtimes(report))])
    text = f"{buffer.getvalue()}{text}"
    reasons = {result.reason for result in report.cases if result.outcome is State.NOT_RUN}
    advice = "".join(f"\nhelp: {_ADVICE[reason]}" for reason in sorted(reasons & _ADVICE.keys()))
    return f"{text}\nVerification failed: {report.problem}.{advice}" if report.problem else text


def _paragraphs(report: Report, folder: Path | None) -> Iterator[tuple[State, list[str]]]:
    causes: dict[tuple[State, str], list[CaseResult]] = defaultdict(list)
    for result in report.cases:
        own_words = (result.id.replace("/", "_"), result.version)
        text = _find_cause(report, result)
        for word in filter(None, own_words):
            text = text.replace(word, "")
        causes[result.outcome, text].append(result)
    for state in _ORDER:
        for (outcome, _), results in causes.items():
            if outcome is state and state.is_pass:
                yield from ((state, [_describe_pass(report, result)]) for result in results if LOG.level == "verbose")
            elif outcome is state:
                yield state, [_find_cause(report, results[0]), *_list_details(report, results, folder)]


def _find_cause(report: Report, result: CaseResult) -> str:
    """What ended a test case, in a line: of a failure, its headline or the exception that it does not name."""
    if result.outcome.is_pass:
        return ""
    text = words(report, result)
    first, decisive = text.partition("\n")[0], decisive_line(text)
    is_exception = _EXCEPTION.match(decisive) is not None and decisive not in first
    return decisive if result.outcome is State.FAILED and is_exception else first


def _describe_pass(report: Report, result: CaseResult) -> str:
    seconds = "cached" if result.cached else f"{result.seconds:.1f} s"
    return f"{result.id}  {synopsis(words(report, result), _SYNOPSIS)}  {seconds}"


def _list_details(report: Report, results: Sequence[CaseResult], folder: Path | None) -> Iterator[str]:
    """What one of the test cases says, their ids, and a log."""
    first = results[0]
    lines = shorten(words(report, first), _LONGEST).splitlines()
    yield from (f"    {line}" for line in lines if line != _find_cause(report, first))
    if first.outcome is State.NOT_RUN and (advice := first.summary.partition("\nhelp: ")[2]):
        yield f"    help: {advice}"
    yield from (f"  in {result.id}" for result in results[:_SHOWN])
    if len(results) > _SHOWN:
        yield f"  and {plural(len(results) - _SHOWN, 'more test case')}"
    if first.outcome is State.FAILED and first.log:
        yield f"  log: {_show_path(folder / first.log) if folder else first.log}"


def _count(report: Report) -> str:
    cached = sum(result.cached for result in report.cases)
    return report_count(report).replace(" passed", f" passed ({cached} cached)" if cached else " passed", 1)


def _show_path(path: Path) -> str:
    """A path as one would type it here."""
    try:
        return os.path.relpath(path) if path.resolve().is_relative_to(Path.cwd()) else str(path)
    except OSError:  # the current folder is gone
        return str(path)

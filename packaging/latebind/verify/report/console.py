"""Renders a verification report for a terminal: each cause once, with the test cases that it ended."""

from __future__ import annotations

import io
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from latebind.model import State
from latebind.system.log import LOG
from latebind.text import decisive_line
from latebind.verify.report.view import MARKS, Row, View, synopsis
from loadcheck.text import DOCS, plural, shorten

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


def report_text(view: View, folder: Path | None = None) -> str:
    """What failed and what was not run, by cause, and the count; in color where the terminal and NO_COLOR allow it.

    `folder` is where the report's files are. Test cases that passed are listed with `--verbose`: others have been
    shown when they ended.
    """
    from rich.console import Console  # noqa: PLC0415  # slow to import, and only this needs it
    from rich.text import Text  # noqa: PLC0415

    buffer = io.StringIO()
    console = Console(file=buffer, soft_wrap=True, highlight=False, force_terminal=Console().is_terminal)
    for state, lines in _paragraphs(view, folder):
        mark = Text(MARKS[state], style=_STYLES[state])
        console.print(Text.assemble(mark, " ", "\n".join(lines)))
    place = f". Report: {_show_path(folder / 'verify.html')}" if folder else ""
    cached = sum(row.result.cached for row in view.rows)
    count = view.count.replace(" passed", f" passed ({cached} cached)" if cached else " passed", 1)
    lacks = ["What would run the others:", *(f"  {lack}" for lack in view.lacks)] if view.lacks else []
    text = buffer.getvalue() + "\n".join([*lacks, f"{count}{place}", *view.news])
    reasons = {row.result.reason for row in view.with_state(State.NOT_RUN)}
    advice = "".join(f"\nhelp: {_ADVICE[reason]}" for reason in sorted(reasons & _ADVICE.keys()))
    return f"{text}\nVerification failed: {view.problem}.{advice}" if view.problem else text


def _paragraphs(view: View, folder: Path | None) -> Iterator[tuple[State, list[str]]]:
    causes: dict[tuple[State, str], list[Row]] = defaultdict(list)
    for row in view.rows:
        own_words = (row.shown.id.replace("/", "_"), row.shown.version)
        text = _find_cause(row)
        for word in filter(None, own_words):
            text = text.replace(word, "")
        causes[row.shown.outcome, text].append(row)
    for state in _ORDER:
        for (outcome, _), rows in causes.items():
            if outcome is state and state.is_pass:
                yield from ((state, [_describe_pass(row)]) for row in rows if LOG.level == "verbose")
            elif outcome is state:
                yield state, [_find_cause(rows[0]), *_list_details(rows, folder)]


def _find_cause(row: Row) -> str:
    """What ended a test case, in a line: of a failure, its headline or the exception that it does not name."""
    if row.shown.outcome.is_pass:
        return ""
    first, decisive = row.words.partition("\n")[0], decisive_line(row.words)
    is_exception = _EXCEPTION.match(decisive) is not None and decisive not in first
    return decisive if row.shown.outcome is State.FAILED and is_exception else first


def _describe_pass(row: Row) -> str:
    seconds = "cached" if row.shown.cached else f"{row.shown.seconds:.1f} s"
    return f"{row.shown.id}  {synopsis(row.words, _SYNOPSIS)}  {seconds}"


def _list_details(rows: Sequence[Row], folder: Path | None) -> Iterator[str]:
    """What one of the test cases says, their ids, and a log."""
    row, first = rows[0], rows[0].shown
    lines = shorten(row.words, _LONGEST).splitlines()
    yield from (f"    {line}" for line in lines if line != _find_cause(row))
    if first.outcome is State.NOT_RUN and (advice := first.summary.partition("\nhelp: ")[2]):
        yield f"    help: {advice}"
    yield from (f"  in {row.shown.id}" for row in rows[:_SHOWN])
    if len(rows) > _SHOWN:
        yield f"  and {plural(len(rows) - _SHOWN, 'more test case')}"
    if first.outcome is State.FAILED and first.log:
        yield f"  log: {_show_path(folder / first.log) if folder else first.log}"


def _show_path(path: Path) -> str:
    """A path as one would type it here."""
    try:
        return os.path.relpath(path) if path.resolve().is_relative_to(Path.cwd()) else str(path)
    except OSError:  # the current folder is gone
        return str(path)

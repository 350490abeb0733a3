"""Renders a verification report as an HTML page.

Everything in it is untrusted: the template escapes names, logs and facts are JSON that cannot end its element, and the
page's policy only allows its own script. It needs no network and no other file.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from latebind.backend.notes import duration
from latebind.model import State
from latebind.system.resources import folder
from latebind.templates import render
from latebind.text import plural, printable_lines
from latebind.verify.report.view import LOOKS, Row, View

if TYPE_CHECKING:
    from latebind.verify.report.data import CaseResult, LogReader
    from latebind.verify.report.timeline import Timeline

_LISTED = 20
"""How many test cases a list of the page shows at first, and a critical path at all."""
LOG_LIMITS: Mapping[State, int] = {**dict.fromkeys(State, 4_000), State.FAILED: 40_000}
"""Characters of a log that the page holds. The files have the rest."""
_LOGS = 4_000_000
"""Characters of all logs together, so that a page of 10,000 test cases opens within a second."""
_FACTS = 4_000
_MANY = 1_000
"""Test cases from which on a browser draws a table only when a reader comes near."""


class _Bar(NamedTuple):
    """A link of a critical path: where its bar begins and how long it is, in percent."""

    row: Row
    begin: float
    length: float


def report_html(view: View, log_of: LogReader) -> str:
    """The page. `log_of` gives the text of a test case's log, "" for none."""
    script = (folder("templates") / "verify.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    states = Counter(row.result.outcome for row in view.rows)
    numbers = {row.shown.id: number for number, row in enumerate(view.rows)}
    failed = view.with_state(State.FAILED)
    longest = max((row.shown.seconds for row in view.rows), default=0) or 1
    return render(
        "verify.html.j2",
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        verdict="failed" if failed else "proves nothing" if view.problem else "passed",
        view=view,
        states=[
            (state.value, LOOKS[state], states[state])
            for state in State
            if states[state] or state not in {State.EMULATED, State.GLUE}
        ],
        failed=[failed[:_LISTED], failed[_LISTED:]],
        timelines=[(view.machines[line.machine][0], line, *_draw(line, view, numbers)) for line in view.timelines],
        targets=list(dict.fromkeys(row.shown.target for row in view.rows)),
        runtimes=_list_runtimes(view.rows),
        numbers=numbers,
        looks=LOOKS,
        share=lambda row: f"{100 * row.shown.seconds / longest:.1f}",
        took=_describe_time,
        duration=duration,
        clip=clip,
        listed=_LISTED,
        many=_MANY,
        plural=plural,
        rows=_json([_describe_row(row) for row in view.rows]),
        details=_describe_cases(view.rows, log_of),
    )


def clip(text: str, limit: int) -> str:
    """A log with its beginning and more of its end, and how much was left out between them."""
    if len(text) <= limit:
        return text
    head = limit // 4
    omitted = len(text) - limit
    return f"{text[:head]}\n\n… {plural(omitted, 'character')} left out …\n\n{text[-(limit - head) :]}"


def _draw(line: Timeline, view: View, numbers: Mapping[str, int]) -> tuple[list[_Bar], str]:
    """The bars of a critical path, and a sentence about those left out."""
    kept, rest = line.shorten(_LISTED)
    scale = 100 / (line.seconds or 1)
    bars = [
        _Bar(view.rows[numbers[result.id]], (result.started or 0) * scale, result.seconds * scale) for result in kept
    ]
    return bars, rest


def _list_runtimes(rows: Iterable[Row]) -> list[str]:
    """What a reader may filter by: each runtime, and each of its versions, in the order of the report."""
    names: dict[str, list[str]] = {}
    for row in rows:
        names.setdefault(row.shown.runtime, []).append(row.runtime)
    return [name for runtime, own in names.items() for name in dict.fromkeys([*filter(None, [runtime]), *own])]


def _describe_time(result: CaseResult) -> str:
    if result.outcome is State.NOT_RUN and not result.seconds:
        return ""
    return duration(result.seconds) + (", cached" if result.cached else "")


def _json(value: object) -> str:
    """JSON that is safe inside a script element.

    Only `<` could end the element or begin a comment in it (HTML, "Restrictions for contents of script elements").
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _describe_row(row: Row) -> dict[str, str]:
    """What the page filters by and shows of every test case."""
    return {
        "id": row.shown.id,
        "style": LOOKS[row.shown.outcome].style,
        "target": row.shown.target,
        "runtime": row.runtime,
        "words": row.words,
    }


def _describe_cases(rows: Sequence[Row], log_of: LogReader) -> str:
    """What the page shows of an opened test case: JSON in a line for each, so that the page reads one alone."""
    limits = _share_logs(Counter(row.shown.outcome is State.FAILED for row in rows))
    lines = (_describe_case(row, log_of(row.result), limits[row.shown.outcome is State.FAILED]) for row in rows)
    return "\n".join(map(_json, lines))


def _share_logs(numbers: Mapping[bool, int]) -> dict[bool, int]:
    """How much of a log the page holds: of a test case that failed, and of another."""
    failed = min(LOG_LIMITS[State.FAILED], _LOGS // 2 // max(numbers[True], 1))
    rest = _LOGS - failed * numbers[True]
    return {True: failed, False: min(LOG_LIMITS[State.PASSED], rest // max(numbers[False], 1))}


def _describe_case(row: Row, log: str, limit: int) -> dict[str, Any]:
    shown = row.shown
    facts = {
        "package": shown.kind,
        "target": shown.target,
        "consumer": shown.consumer,
        "runtime": row.runtime,
        "scenario": shown.scenario,
        "took": f"{shown.seconds:.1f} s{', remembered from an earlier run' if shown.cached else ''}",
        "machine": row.machine,
        **{key: _fact(value, min(limit, _FACTS)) for key, value in shown.facts.items()},
    }
    return {
        "facts": [[key.replace("_", " "), value] for key, value in facts.items() if value],
        "file": shown.log,
        "log": printable_lines(clip(log, limit)),
    }


def _fact(value: object, limit: int) -> str:
    """A number or text as it is; a table or list with its length."""
    if isinstance(value, dict):
        value = [f"{name}: {text}" for name, text in value.items()]
    if isinstance(value, list):
        return clip("\n".join([f"{len(value)}:", *map(str, value)]), limit) if value else ""
    return str(value)

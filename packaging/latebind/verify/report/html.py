"""Renders a verification report as one HTML page that needs no network and no other file.

Everything in it is untrusted: the template escapes names, logs and facts are JSON that cannot end its element, and the
page's policy only allows its own script.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from latebind.model import State
from latebind.system.resources import folder
from latebind.templates import render
from loadcheck.text import plural, printable, printable_lines

if TYPE_CHECKING:
    from latebind.verify.report.report import CaseResult
    from latebind.verify.report.view import Row, View

LOG_LIMITS: Mapping[State, int] = {**dict.fromkeys(State, 4_000), State.FAILED: 40_000}
"""Characters of a log that the page holds, so that a phone can open a page of 500 of them. The files have the rest."""
_CLASSES = {State.PASSED: "p", State.EMULATED: "e", State.GLUE: "g", State.FAILED: "f", State.NOT_RUN: "n"}
_FAILURES = 20
_FACTS = 4_000


def report_html(view: View, log_of: Callable[[CaseResult], str]) -> str:
    """The page. `log_of` gives the text of a test case's log, "" for none."""
    script = (folder("templates") / "verify.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    states = Counter(row.result.outcome for row in view.rows)
    numbers = {id(row): index for index, row in enumerate(view.rows)}
    failed = view.with_state(State.FAILED)
    return render(
        "verify.html.j2",
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        verdict="failed" if failed else "proves nothing" if view.problem else "passed",
        view=view,
        states=[
            (state.value, _CLASSES[state], states[state])
            for state in State
            if states[state] or state not in {State.EMULATED, State.GLUE}
        ],
        failed=failed[:_FAILURES],
        failed_more=max(0, len(failed) - _FAILURES),
        number=lambda row: numbers[id(row)],
        style=lambda row: _CLASSES[row.result.outcome],
        plural=plural,
        data=_data(view.rows, log_of),
    )


def clip(text: str, limit: int) -> str:
    """A log with its beginning and more of its end, and how much was left out between them."""
    if len(text) <= limit:
        return text
    head = limit // 4
    omitted = len(text) - limit
    return f"{text[:head]}\n\n… {plural(omitted, 'character')} left out …\n\n{text[-(limit - head) :]}"


def _data(rows: Sequence[Row], log_of: Callable[[CaseResult], str]) -> str:
    """The details of all test cases as JSON that is safe inside a script element.

    Only `<` could end the element or begin a comment in it (HTML, "Restrictions for contents of script elements").
    """
    text = json.dumps([_case(row, log_of(row.result)) for row in rows], ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _case(row: Row, log: str) -> dict[str, Any]:
    shown = row.shown
    facts = {
        "package": shown.kind,
        "target": shown.target,
        "consumer": shown.consumer,
        "runtime": row.runtime,
        "scenario": shown.scenario,
        "took": f"{shown.seconds:.1f} s{', remembered from an earlier run' if shown.cached else ''}",
        "machine": row.machine,
        **{printable(key): printable(_fact(value)) for key, value in shown.facts.items()},
    }
    return {
        "id": shown.id,
        "state": shown.outcome.value,
        "style": _CLASSES[shown.outcome],
        "words": row.words,
        "facts": [[key.replace("_", " "), value] for key, value in facts.items() if value],
        "file": shown.log,
        "log": printable_lines(clip(log, LOG_LIMITS[shown.outcome])),
    }


def _fact(value: object) -> str:
    """A number or text as it is; a table or list with its length."""
    if isinstance(value, dict):
        value = [f"{name}: {text}" for name, text in value.items()]
    if isinstance(value, list):
        return clip("\n".join([f"{len(value)}:", *map(str, value)]), _FACTS) if value else ""
    return str(value)

"""The verification report: one JSON document, and the console and Markdown renderings of it."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from latebind.model import NOT_RUN_REASONS, State

if TYPE_CHECKING:
    from latebind.model import Outcome
    from latebind.verify.verify import Verified

_MARKS = {State.PASSED: "✓", State.FAILED: "✗", State.NOT_RUN: "–"}
_LONGEST, _SENTENCE = 1500, 200
_STYLES = {State.PASSED: "green", State.FAILED: "bold red", State.NOT_RUN: "yellow"}


def to_document(verified: Verified) -> dict[str, Any]:
    """The report as data; `verify_schema()` describes it."""
    return {
        "packages": [{"file": artifact.path.name, "sha256": artifact.sha256} for artifact in verified.artifacts],
        "cells": [_cell(outcome) for outcome in verified.outcomes],
        "machines": [dict(verified.machine)],
    }


def to_json(verified: Verified) -> str:
    """The report as JSON text."""
    return json.dumps(to_document(verified), indent=2, ensure_ascii=False) + "\n"


def to_markdown(verified: Verified) -> str:
    """The report for a pull request or a job summary."""
    lines = ["# Verification", "", "| | cell | runtime | result | s |", "|---|---|---|---|---|"]
    for outcome in verified.outcomes:
        cell = outcome.cell
        runtime = f"{cell.runtime} {cell.version}".strip() or "none"
        name = f"{cell.kind} {cell.target} {cell.consumer} **{cell.scenario}**"
        text = _words(outcome).replace("|", "\\|").replace("\n", "<br>")
        lines.append(f"| {_MARKS[outcome.state]} | {name} | {runtime} | {text} | {outcome.seconds:.1f} |")
    lines += ["", count(verified), "", "| package | sha256 |", "|---|---|"]
    lines += [f"| {artifact.path.name} | `{artifact.sha256}` |" for artifact in verified.artifacts]
    scopes = _out_of_scope(verified)
    for consumer, names in scopes.items():
        lines += ["", f"Out of scope for {consumer}, {len(names)} models:", ""]
        lines += [f"- `{name}`: {reason}" for name, reason in names.items()]
    return "\n".join(lines) + "\n"


def to_console(verified: Verified, *, width: int | None = None) -> str:
    """The table for a terminal; colours only where the terminal and NO_COLOR allow."""
    import io  # noqa: PLC0415  # rich is slow to import and only this needs it

    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    table = Table(title=None, box=None, pad_edge=False, show_edge=False)
    for heading in ("", "cell", "runtime", "result"):
        table.add_column(heading, overflow="fold")
    table.add_column("s", justify="right")
    for outcome in verified.outcomes:
        cell = outcome.cell
        style = _STYLES[outcome.state]
        seconds = f"{outcome.seconds:.1f}" + ("*" if outcome.cached else "")
        name = f"{cell.kind} {cell.target} {cell.consumer} {cell.scenario}"
        table.add_row(
            f"[{style}]{_MARKS[outcome.state]}[/]", name, f"{cell.runtime} {cell.version}".strip(),
            _escaped(_shortened(outcome)), seconds,
        )  # fmt: skip
    buffer = io.StringIO()
    terminal = Console().is_terminal
    console = Console(file=buffer, width=width or (None if terminal else 160), force_terminal=terminal)
    console.print(table)
    remembered = any(outcome.cached for outcome in verified.outcomes)
    return buffer.getvalue() + count(verified) + ("  (* remembered: nothing has changed)" if remembered else "")


def count(verified: Verified) -> str:
    """The last line: how many of each state, and the reasons of what was not run."""
    states = Counter(outcome.state for outcome in verified.outcomes)
    text = f"{states[State.PASSED]} passed, {states[State.FAILED]} failed, {states[State.NOT_RUN]} not run"
    reasons = Counter(outcome.reason for outcome in verified.outcomes if outcome.state is State.NOT_RUN)
    if reasons:
        text += " (" + ", ".join(f"{reason}: {number}" for reason, number in sorted(reasons.items())) + ")"
    return text


def verify_schema() -> dict[str, Any]:
    """JSON Schema of the report."""
    text = {"type": "string"}
    cell = {
        "id": text,
        "kind": {"enum": ["wheel", "nupkg"]},
        "target": text,
        "consumer": text,
        "runtime": text,
        "version": text,
        "scenario": text,
        "outcome": {"enum": [state.value for state in State]},
        "reason": text,
        "summary": text,
        "seconds": {"type": "number"},
        "log": text,
        "cached": {"type": "boolean"},
        "facts": {"type": "object"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "latebind verify report",
        "description": "Reasons of `not run`: " + "; ".join(f"{key}: {text}" for key, text in NOT_RUN_REASONS.items()),
        "type": "object",
        "required": ["packages", "cells", "machines"],
        "additionalProperties": False,
        "properties": {
            "packages": {"type": "array", "items": _object({"file": text, "sha256": text})},
            "cells": {"type": "array", "items": _object(cell)},
            "machines": {"type": "array", "items": {"type": "object", "additionalProperties": text}},
        },
        "allOf": [{"properties": {"cells": {"items": {
            "if": {"properties": {"outcome": {"const": State.NOT_RUN.value}}},
            "then": {"properties": {"reason": {"enum": list(NOT_RUN_REASONS)}}},
        }}}}],
    }  # fmt: skip


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": list(properties),
        "additionalProperties": False,
        "properties": properties,
    }


def _cell(outcome: Outcome) -> dict[str, Any]:
    cell = outcome.cell
    return {
        "id": cell.id,
        "kind": cell.kind,
        "target": cell.target,
        "consumer": cell.consumer,
        "runtime": cell.runtime,
        "version": cell.version,
        "scenario": cell.scenario,
        "outcome": outcome.state.value,
        "reason": outcome.reason,
        "summary": outcome.summary,
        "seconds": outcome.seconds,
        "log": outcome.log,
        "cached": outcome.cached,
        "facts": dict(outcome.facts),
    }


def _words(outcome: Outcome) -> str:
    if outcome.state is State.NOT_RUN:
        return f"not run: {outcome.reason} ({NOT_RUN_REASONS.get(outcome.reason, outcome.summary)})"
    if outcome.state is State.FAILED:
        short = outcome.reason if len(outcome.reason) < _LONGEST else outcome.reason[:_LONGEST] + " ..."
        return f"{short}\nlog: {outcome.log}"
    return outcome.summary


def _shortened(outcome: Outcome) -> str:
    """For a table: a long sentence of a passed cell loses its middle; the report has it whole."""
    text = _words(outcome)
    if outcome.state is State.PASSED and len(text) > _SENTENCE:
        return f"{text[: _SENTENCE // 2].rstrip()} … {text[-_SENTENCE // 2 :].lstrip()}"
    return text


def _escaped(text: str) -> str:
    return text.replace("[", "\\[")


def _out_of_scope(verified: Verified) -> dict[str, dict[str, str]]:
    """Models that were left out, by the cell that left them out; equal lists once."""
    found: dict[str, dict[str, str]] = {}
    for outcome in verified.outcomes:
        names = outcome.facts.get("out_of_scope")
        if isinstance(names, dict) and names and names not in found.values():
            found[outcome.cell.id] = names
    return found

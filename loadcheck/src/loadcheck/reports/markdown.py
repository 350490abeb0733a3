"""Renders an audit report as Markdown, for a CI job's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.cause import sections
from loadcheck.engine.wording import assumption_line, count_line, others, place
from loadcheck.text import markdown_code, markdown_text, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadcheck.engine.cause import Cause
    from loadcheck.model import AuditReport

_SIGNS = {"error": "❌", "warning": "⚠️", "note": "📝"}
_LONGEST = 300


def audit_markdown(report: AuditReport) -> str:
    """The counts; for each package a row per cause, errors first and notes folded; then the waived findings."""
    lines = [f"## {'❌' if report.exit_status else '✅'} loadcheck", "", f"{count_line(report)}."]
    for package, package_causes in sections(report).items():
        if len(report.packages) > 1:
            lines += ["", f"### {markdown_code(package)}"]
        notes = [cause for cause in package_causes if cause.severity == "note"]
        lines += _table([cause for cause in package_causes if cause.severity != "note"], report)
        if notes:
            lines += ["", f"<details><summary>{plural(sum(len(cause.findings) for cause in notes), 'note')}</summary>"]
            lines += [*_table(notes, report), "", "</details>"]
    if report.waived:
        lines += ["", "### Waived", "", "| check | where | reason |", "|---|---|---|"]
        lines += [
            f"| {waived.finding.code} | {markdown_code(waived.finding.subject)} | {_text(waived.reason)} |"
            for waived in report.waived
        ]
    if report.gone:
        lines += ["", "### In the baseline, but not found", "", *(f"- {_text(line)}" for line in report.gone)]
    return "\n".join(lines) + "\n"


def _table(listed: Sequence[Cause], report: AuditReport) -> list[str]:
    head = ["", "| | check | where | what | fix |", "|---|---|---|---|---|"]
    return [*head, *(_row(cause, report) for cause in listed)] if listed else []


def _row(cause: Cause, report: AuditReport) -> str:
    finding, inner = cause.first, place(cause.first.subject, report)
    where = f"{markdown_code(inner) if inner else ''}{others(cause, report)}"
    severity = f"{_SIGNS[finding.severity]} {finding.severity}"
    message = ". ".join([finding.message, *assumption_line(finding)])
    return f"| {severity} | {finding.code} | {where} | {_text(message)} | {_text(finding.fix)} |"


def _text(text: str) -> str:
    return markdown_text(text, _LONGEST)

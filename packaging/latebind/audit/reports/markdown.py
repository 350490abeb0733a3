"""Renders an audit report as Markdown, for a CI job's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.audit.engine.cause import sections
from latebind.audit.engine.wording import count_line, others, place
from latebind.text import markdown_code, markdown_text, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from latebind.audit.engine.cause import Cause
    from latebind.model import AuditReport

_SIGNS = {"error": "❌", "warning": "⚠️", "note": "📝"}
_LONGEST = 300


def audit_markdown(report: AuditReport) -> str:
    """The counts; for each package a row per cause, errors first and notes folded; then the waived findings."""
    lines = [f"## {'❌' if report.exit_status else '✅'} latebind audit", "", f"{count_line(report)}."]
    for package, found in sections(report).items():
        if len(report.packages) > 1:
            lines += ["", f"### {markdown_code(package)}"]
        notes = [row for row in found if row.severity == "note"]
        lines += _table([row for row in found if row.severity != "note"], report)
        if notes:
            lines += ["", f"<details><summary>{plural(sum(len(row.findings) for row in notes), 'note')}</summary>"]
            lines += [*_table(notes, report), "", "</details>"]
    if report.waived:
        lines += ["", "### Waived", "", "| check | where | reason |", "|---|---|---|"]
        lines += [
            f"| {row.finding.code} | {markdown_code(row.finding.subject)} | {_text(row.reason)} |"
            for row in report.waived
        ]
    if report.gone:
        lines += ["", "### In the baseline, but not found", "", *(f"- {_text(row)}" for row in report.gone)]
    return "\n".join(lines) + "\n"


def _table(rows: Sequence[Cause], report: AuditReport) -> list[str]:
    head = ["", "| | check | where | what | fix |", "|---|---|---|---|---|"]
    return [*head, *(_row(row, report) for row in rows)] if rows else []


def _row(cause: Cause, report: AuditReport) -> str:
    row, inner = cause.first, place(cause.first.subject, report)
    where = f"{markdown_code(inner) if inner else ''}{others(cause, report)}"
    return f"| {_SIGNS[row.severity]} {row.severity} | {row.code} | {where} | {_text(row.message)} | {_text(row.fix)} |"


def _text(text: str) -> str:
    return markdown_text(text, _LONGEST)

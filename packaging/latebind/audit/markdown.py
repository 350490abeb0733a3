"""Renders an audit report as Markdown, for a CI job's summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.audit.cause import causes
from latebind.audit.wording import count_line, others, place
from latebind.text import markdown_code, markdown_text, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from latebind.audit.cause import Cause
    from latebind.model import AuditReport

_SIGNS = {"error": "❌", "warning": "⚠️", "note": "📝"}
_LONGEST = 300


def audit_markdown(report: AuditReport) -> str:
    """The counts, then a row for each cause, errors first and notes folded, then the waived findings."""
    found = causes(report.findings)
    notes = [row for row in found if row.severity == "note"]
    lines = [f"## {'❌' if report.exit_status else '✅'} latebind audit", "", f"{count_line(report)}."]
    lines += _table((row for row in found if row.severity != "note"), report)
    if notes:
        lines += ["", f"<details><summary>{plural(len(notes), 'note')}</summary>"]
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


def _table(rows: Iterable[Cause], report: AuditReport) -> Iterator[str]:
    for number, cause in enumerate(rows):
        if not number:
            yield from ("", "| | check | where | what | fix |", "|---|---|---|---|---|")
        row, inner = cause.first, place(cause.first.subject, report)
        where = f"{markdown_code(inner) if inner else ''}{others(cause)}"
        sign = f"{_SIGNS[row.severity]} {row.severity}"
        yield f"| {sign} | {row.code} | {where} | {_text(row.message)} | {_text(row.fix)} |"


def _text(text: str) -> str:
    return markdown_text(text, _LONGEST)

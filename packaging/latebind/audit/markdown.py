"""Renders an audit report as Markdown, for a CI job's summary."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from latebind.audit.wording import count_line
from latebind.text import markdown_code, markdown_text

if TYPE_CHECKING:
    from latebind.model import AuditReport, Finding

_SIGNS = {"error": "❌", "warning": "⚠️", "note": "📝"}
_LONGEST = 300


def audit_markdown(report: AuditReport) -> str:
    """The counts, then a table per package, errors first, then the waived findings."""
    lines = [f"## {'❌' if report.exit_status else '✅'} latebind audit", "", f"{count_line(report)}."]
    for package, found in groupby(report.findings, key=lambda row: row.subject.partition("!")[0]):
        lines += ["", f"### {markdown_code(package)}", "", "| | check | where | what | fix |", "|---|---|---|---|---|"]
        lines += [_row(row) for row in sorted(found, key=lambda row: list(_SIGNS).index(row.severity))]
    if report.waived:
        lines += ["", "### Waived", "", "| check | where | reason |", "|---|---|---|"]
        lines += [
            f"| {row.finding.code} | {markdown_code(row.finding.subject)} | {_text(row.reason)} |"
            for row in report.waived
        ]
    return "\n".join(lines) + "\n"


def _row(row: Finding) -> str:
    inner = row.subject.partition("!")[2]
    where = markdown_code(inner) if inner else ""
    sign = f"{_SIGNS[row.severity]} {row.severity}"
    return f"| {sign} | {row.code} | {where} | {_text(row.message)} | {_text(row.fix)} |"


def _text(text: str) -> str:
    return markdown_text(text, _LONGEST)

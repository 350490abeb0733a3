"""Renders an audit report as annotations for GitHub Actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.cause import causes
from loadcheck.engine.wording import assumption_line, count_line, others
from loadcheck.text import annotation, plural

if TYPE_CHECKING:
    from loadcheck.model import AuditReport

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}
_MOST = 10
"""GitHub shows this many annotations per level and step, and drops the rest."""


def audit_github(report: AuditReport) -> str:
    """One annotation per cause, up to the number that GitHub shows, then a line with the counts."""
    lines: list[str] = []
    for severity, level in _LEVELS.items():
        selected = [cause for cause in causes(report.findings) if cause.severity == severity]
        for cause in selected[:_MOST]:
            finding = cause.first
            texts = [finding.message, *finding.evidence, *assumption_line(finding), finding.fix]
            message = "\n".join(filter(None, texts))
            title = f"{finding.code} {finding.subject}{others(cause, report)}"
            lines.append(annotation(level, message, title=title))
        if len(selected) > _MOST:
            lines.append(f"{plural(len(selected) - _MOST, 'more cause')} of severity {severity}: see the report")
    return "".join(f"{line}\n" for line in [*lines, count_line(report)])

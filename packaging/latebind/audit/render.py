"""Renders an audit report as JSON and as text, defines the JSON's schema, and lists all renderers."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any

from latebind.audit.github import audit_github
from latebind.audit.junit import audit_junit
from latebind.audit.markdown import audit_markdown
from latebind.audit.sarif import audit_sarif
from latebind.audit.wording import SEVERITIES, count_line
from latebind.text import encodable, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from latebind.model import AuditReport, Finding, Skipped


def audit_json(report: AuditReport) -> str:
    """The report as one JSON document, ending with a line feed. Its shape is `audit_schema()`."""
    document = {
        "subjects": report.subjects,
        "findings": [_finding(row) for row in report.findings],
        "waived": [{**_finding(row.finding), "reason": row.reason} for row in report.waived],
        "skipped": [{"check": row.check, "subject": row.subject, "reason": row.reason} for row in report.skipped],
    }
    return encodable(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def audit_text(report: AuditReport) -> str:
    """The report for people: findings by package, then waived findings and skipped checks, then the counts."""
    lines: list[str] = []
    for package, rows in groupby(report.findings, key=lambda row: row.subject.partition("!")[0]):
        lines += [package, *(line for row in rows for line in _lines(row)), ""]
    if report.waived:
        lines.append("waived")
        lines += [f"  {row.finding.code} {row.finding.subject}: {row.reason}" for row in report.waived]
        lines.append("")
    if report.skipped:
        lines.append("skipped")
        lines += _skipped(report.skipped)
        lines.append("")
    lines.append(count_line(report))
    # A line feed in a hostile name would start a line that looks like a finding.
    return "".join(printable(line).replace("\n", "\\n") + "\n" for line in lines)


def audit_schema() -> dict[str, Any]:
    """The JSON Schema of `audit_json`."""
    text = {"type": "string"}
    finding = {
        "code": {"type": "string", "pattern": "^[A-Z]{2,10}[0-9]{3}$"},
        "severity": {"enum": list(SEVERITIES)},
        "subject": {**text, "description": "package-file!inner/path, or the path of a bare file"},
        "message": text,
        "evidence": {"type": "array", "items": text},
        "fix": text,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "latebind audit report",
        **_object(
            {
                "subjects": {"type": "integer", "minimum": 0},
                "findings": {"type": "array", "items": _object(finding)},
                "waived": {"type": "array", "items": _object({**finding, "reason": text})},
                "skipped": {"type": "array", "items": _object({"check": text, "subject": text, "reason": text})},
            }
        ),
    }


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _finding(row: Finding) -> dict[str, Any]:
    return {
        "code": row.code,
        "severity": row.severity,
        "subject": row.subject,
        "message": row.message,
        "evidence": list(row.evidence),
        "fix": row.fix,
    }


def _lines(row: Finding) -> list[str]:
    inner = row.subject.partition("!")[2]
    lines = [f"  {row.severity:7} {row.code} {inner}{' ' if inner else ''}{row.message}"]
    lines += [f"          saw: {text}" for text in row.evidence if text not in row.message]
    return [*lines, f"          fix: {row.fix}"]


def _skipped(rows: tuple[Skipped, ...]) -> list[str]:
    """One line for each subject and reason, with the names of up to four checks, else their number."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        groups.setdefault((row.subject, row.reason), []).append(row.check)
    few = 4
    return [
        f"  {', '.join(names) if len(names) <= few else f'{len(names)} checks'} {subject}: {reason}"
        for (subject, reason), names in groups.items()
    ]


RENDERERS: Mapping[str, Callable[[AuditReport], str]] = {
    "text": audit_text,
    "json": audit_json,
    "sarif": audit_sarif,
    "junit": audit_junit,
    "markdown": audit_markdown,
    "github": audit_github,
}
"""The values of `--format`."""

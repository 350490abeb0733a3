"""Renders an audit report as JSON, defines its schema, and lists all renderers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from loadcheck import __version__
from loadcheck.engine.cause import cause_id
from loadcheck.model import SEVERITIES
from loadcheck.reports.ci import audit_github, audit_junit, audit_sarif
from loadcheck.reports.console import audit_text
from loadcheck.reports.htmlpage import audit_html
from loadcheck.reports.markdown import audit_markdown
from loadcheck.text import encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadcheck.model import AuditReport, Finding, Skipped


def audit_json(report: AuditReport) -> str:
    """The report as one JSON document, ending with a line feed. Its shape is `audit_schema()`."""
    document = {
        "tool": {"name": "loadcheck", "version": __version__},
        "packages": list(report.packages),
        "subjects": report.subjects,
        "choice": report.choice,
        "findings": [_finding(finding) for finding in report.findings],
        "waived": [{**_finding(waived.finding), "reason": waived.reason} for waived in report.waived],
        "unused_waivers": list(report.unused),
        "undecided": [_undecided(skip) for skip in report.undecided],
        "skipped": [{"check": skip.check, "subject": skip.subject, "reason": skip.reason} for skip in report.skipped],
        "baseline": {"known": [_finding(finding) for finding in report.known], "gone": list(report.gone)},
    }
    return encodable(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


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
        "assumption": {**text, "description": "what the finding assumes; empty if it assumes nothing"},
        "cause": {**text, "description": "equal in all findings of a check that have the same cause"},
    }
    undecided = {
        "check": text,
        "subject": text,
        "library": {**text, "description": "the needed library that a requirement may install"},
        "requirements": {"type": "array", "items": text, "description": "what was not read"},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "loadcheck report",
        **_object(
            {
                "tool": _object({"name": text, "version": text}),
                "packages": {"type": "array", "items": text, "description": "the packages, folders and binaries read"},
                "subjects": {"type": "integer", "minimum": 0},
                "choice": {**text, "description": "the checks that were applied"},
                "findings": {"type": "array", "items": _object(finding)},
                "waived": {"type": "array", "items": _object({**finding, "reason": text})},
                "unused_waivers": {"type": "array", "items": text},
                "undecided": {"type": "array", "items": _object(undecided)},
                "skipped": {"type": "array", "items": _object({"check": text, "subject": text, "reason": text})},
                "baseline": _object(
                    {
                        "known": {"type": "array", "items": _object(finding)},
                        "gone": {"type": "array", "items": text},
                    }
                ),
            }
        ),
    }


def _undecided(skip: Skipped) -> dict[str, Any]:
    requirements = list(skip.unread)
    return {"check": skip.check, "subject": skip.subject, "library": skip.library, "requirements": requirements}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "subject": finding.subject,
        "message": finding.message,
        "evidence": list(finding.evidence),
        "fix": finding.fix,
        "assumption": finding.assumption,
        "cause": cause_id(finding),
    }


RENDERERS: Mapping[str, Callable[[AuditReport], str]] = {
    "text": audit_text,
    "html": audit_html,
    "json": audit_json,
    "sarif": audit_sarif,
    "junit": audit_junit,
    "markdown": audit_markdown,
    "github": audit_github,
}
"""The values of `--format`."""

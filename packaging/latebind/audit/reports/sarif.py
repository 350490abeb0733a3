"""Renders an audit report as SARIF 2.1.0, which code hosts show next to the code."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from latebind import __version__
from latebind.audit.engine.catalog import checks
from latebind.audit.engine.cause import cause_id
from latebind.text import encodable, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from latebind.audit.engine.registry import Check
    from latebind.model import AuditReport, Finding, Skipped

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def audit_sarif(report: AuditReport) -> str:
    """A SARIF log with one run. Skipped checks are notifications.

    Waived findings, and those of the baseline, are suppressed results. Results with the same cause have the same
    fingerprint.
    """
    known = checks()
    numbers = {code: number for number, code in enumerate(known)}
    results = [_result(row, numbers) for row in report.findings]
    accepted = [(row.finding, row.reason) for row in report.waived]
    for row, reason in [*accepted, *((row, "in the baseline") for row in report.known)]:
        suppression = {"kind": "external", "status": "accepted", "justification": reason}
        results.append({**_result(row, numbers), "suppressions": [suppression]})
    run = {
        "tool": {
            "driver": {
                "name": "latebind",
                "semanticVersion": __version__,
                "rules": [_rule(check) for check in known.values()],
            }
        },
        "columnKind": "utf16CodeUnits",
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": report.exit_status,
                "toolExecutionNotifications": [_notification(row) for row in report.skipped],
            }
        ],
        "results": results,
    }
    text = json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)
    return f"{encodable(text)}\n"


def _rule(check: Check) -> dict[str, Any]:
    return {
        "id": check.code,
        "name": "".join(word.capitalize() for word in check.title.replace("-", " ").split()),
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": check.rationale},
        "help": {"text": f"{check.cure}\nExample: {check.example}"},
        "defaultConfiguration": {"level": check.severity},
    }


def _result(row: Finding, numbers: Mapping[str, int]) -> dict[str, Any]:
    evidence = "".join(f"\nsaw: {text}" for text in row.evidence)
    place = f"{row.code}\x00{row.subject}\x00{row.message}"
    return {
        "ruleId": row.code,
        "ruleIndex": numbers[row.code],
        "level": row.severity,
        "message": {"text": f"{row.message}{evidence}\nfix: {row.fix}"},
        "locations": [_location(row.subject)],
        "partialFingerprints": {
            "finding/v1": hashlib.sha256(place.encode("utf-8", "backslashreplace")).hexdigest(),
            "cause/v1": cause_id(row),
        },
    }


def _location(subject: str) -> dict[str, Any]:
    """The package as the file, and the member as the place inside it."""
    package, _, inner = subject.partition("!")
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": quote(printable(package))}}}
    if inner:
        location["logicalLocations"] = [{"fullyQualifiedName": subject, "name": inner, "kind": "member"}]
    return location


def _notification(row: Skipped) -> dict[str, Any]:
    return {
        "level": "note",
        "message": {"text": f"{row.check} was not applied to {row.subject}: {row.reason}"},
        "locations": [_location(row.subject)],
    }

"""Renders an audit report as SARIF 2.1.0, which code hosts show next to the code."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from loadcheck import __version__
from loadcheck.engine.catalog import checks
from loadcheck.engine.cause import cause_id, fingerprint
from loadcheck.engine.wording import details
from loadcheck.text import encodable, printable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadcheck.engine.registry import Check
    from loadcheck.model import AuditReport, Finding, Skipped

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def audit_sarif(report: AuditReport) -> str:
    """A SARIF log with one run. Skipped checks are notifications.

    Waived findings, and those of the baseline, are suppressed results. Results with the same cause have the same
    fingerprint.
    """
    by_code = checks()
    numbers = {code: number for number, code in enumerate(by_code)}
    results = [_result(finding, numbers) for finding in report.findings]
    accepted = [(waived.finding, waived.reason) for waived in report.waived]
    for finding, reason in [*accepted, *((finding, "in the baseline") for finding in report.known)]:
        suppression = {"kind": "external", "status": "accepted", "justification": reason}
        results.append({**_result(finding, numbers), "suppressions": [suppression]})
    run = {
        "tool": {
            "driver": {
                "name": "loadcheck",
                "semanticVersion": __version__,
                "rules": [_rule(check) for check in by_code.values()],
            }
        },
        "columnKind": "utf16CodeUnits",
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": report.exit_status,
                "toolExecutionNotifications": [_notification(skip) for skip in report.skipped],
            }
        ],
        "results": results,
    }
    text = json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)
    return f"{encodable(text)}\n"


def _rule(check: Check) -> dict[str, Any]:
    return {
        "id": check.code,
        "name": "".join(part.capitalize() for part in check.title.replace("-", " ").split()),
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": check.rationale},
        "help": {"text": f"{check.fix}\nExample: {check.example}"},
        "defaultConfiguration": {"level": check.severity},
    }


def _result(finding: Finding, numbers: Mapping[str, int]) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": finding.severity,
        "message": {"text": "\n".join([finding.message, *details(finding)])},
        "locations": [_location(finding.subject)],
        "partialFingerprints": {
            "finding/v2": fingerprint(finding),
            "cause/v2": cause_id(finding),
        },
    }


def _location(subject: str) -> dict[str, Any]:
    """The package as the file, and the member as the place inside it."""
    package, _, inner = subject.partition("!")
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": quote(printable(package))}}}
    if inner:
        location["logicalLocations"] = [{"fullyQualifiedName": subject, "name": inner, "kind": "member"}]
    return location


def _notification(skip: Skipped) -> dict[str, Any]:
    return {
        "level": "warning" if skip.unread else "note",
        "message": {"text": f"{skip.check} was not applied to {skip.subject}: {skip.reason}"},
        "locations": [_location(skip.subject)],
    }

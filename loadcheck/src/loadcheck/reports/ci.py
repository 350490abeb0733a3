"""Renders an audit report for CI: annotations of GitHub Actions, JUnit and SARIF."""

from __future__ import annotations

import json
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from xml.etree import ElementTree as ET  # written here, never parsed

from loadcheck import __version__
from loadcheck.engine.catalog import checks
from loadcheck.engine.cause import cause_id, causes, fingerprint
from loadcheck.engine.wording import assumption_line, count_line, details, others
from loadcheck.text import annotation, encodable, plural, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadcheck.engine.check import Check
    from loadcheck.model import AuditReport, Finding, Skipped

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
    lines += [annotation("error", skip.reason, title=f"undecided: {skip.subject}") for skip in report.refused[:_MOST]]
    return "".join(f"{line}\n" for line in [*lines, count_line(report)])


def audit_junit(report: AuditReport) -> str:
    """One suite per package, one case per finding and per skipped check.

    Findings that fail the audit, by default errors, are failures, and so is what is undecided if that fails it. All
    other cases pass and carry their text. A clean report has one case that passed, because an empty file looks like a
    run that did not happen.
    """
    root = ET.Element("testsuites", name="loadcheck")
    for package, findings in groupby(report.findings, key=lambda finding: finding.subject.partition("!")[0]):
        _suite(root, package, list(findings), report)
    if report.waived or report.skipped:
        suite = ET.SubElement(root, "testsuite", name="not judged")
        for waived in report.waived:
            _pass_over(suite, waived.finding.code, waived.finding.subject, f"waived: {waived.reason}")
        refused = {*report.refused}
        for skipped in report.skipped:
            outcome = "failure" if skipped in refused else "skipped"
            _pass_over(suite, skipped.check, skipped.subject, skipped.reason, outcome)
    if not len(root):
        suite = ET.SubElement(root, "testsuite", name="loadcheck")
        ET.SubElement(
            suite, "testcase", classname="loadcheck", name=f"{plural(report.subjects, 'subject')} without findings"
        )
    _count(root)
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(root: ET.Element, package: str, findings: Sequence[Finding], report: AuditReport) -> None:
    suite = ET.SubElement(root, "testsuite", name=printable(package))
    for finding in findings:
        inner = finding.subject.partition("!")[2]
        case = _case(suite, finding.code, f"{inner or package}: {finding.message}")
        text = printable("\n".join(details(finding)))
        if report.fails(finding):
            ET.SubElement(case, "failure", type=finding.code, message=printable(finding.message)).text = text
        else:
            ET.SubElement(case, "system-out").text = f"{finding.severity}: {text}"


def _case(suite: ET.Element, code: str, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=f"loadcheck.{code}", name=printable(name))


def _pass_over(suite: ET.Element, code: str, subject: str, reason: str, outcome: str = "skipped") -> None:
    ET.SubElement(_case(suite, code, subject), outcome, message=printable(reason))


def _count(root: ET.Element) -> None:
    for element in (*root, root):
        element.set("tests", str(len(list(element.iter("testcase")))))
        element.set("failures", str(len(list(element.iter("failure")))))
        element.set("skipped", str(len(list(element.iter("skipped")))))
        element.set("errors", "0")


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

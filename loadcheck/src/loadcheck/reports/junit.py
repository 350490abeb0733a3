"""Renders an audit report as JUnit XML, which CI systems show as tests."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # written here, never parsed

from loadcheck.engine.wording import details
from loadcheck.text import plural, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadcheck.model import AuditReport, Finding


def audit_junit(report: AuditReport) -> str:
    """One suite per package, one case per finding and per skipped check.

    Findings that fail the audit, by default errors, are failures. All other cases pass and carry their text. A clean
    report has one case that passed, because an empty file looks like a run that did not happen.
    """
    root = ET.Element("testsuites", name="loadcheck")
    for package, findings in groupby(report.findings, key=lambda finding: finding.subject.partition("!")[0]):
        _suite(root, package, list(findings), report)
    if report.waived or report.skipped:
        suite = ET.SubElement(root, "testsuite", name="not judged")
        for waived in report.waived:
            _skip(suite, waived.finding.code, waived.finding.subject, f"waived: {waived.reason}")
        for skipped in report.skipped:
            _skip(suite, skipped.check, skipped.subject, skipped.reason)
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


def _skip(suite: ET.Element, code: str, subject: str, reason: str) -> None:
    ET.SubElement(_case(suite, code, subject), "skipped", message=printable(reason))


def _count(root: ET.Element) -> None:
    for element in (*root, root):
        element.set("tests", str(len(list(element.iter("testcase")))))
        element.set("failures", str(len(list(element.iter("failure")))))
        element.set("skipped", str(len(list(element.iter("skipped")))))
        element.set("errors", "0")

"""The report for other programs: SARIF, JUnit, Markdown."""

import json
import re

import defusedxml.ElementTree
import jsonschema
import pytest

from loadcheck.engine.catalog import checks
from loadcheck.model import AuditReport, Finding, Skipped
from loadcheck.reports.ci import audit_github, audit_junit, audit_sarif
from loadcheck.reports.markdown import audit_markdown

HOSTILE = Finding(
    code="LB602",
    severity="error",
    subject="x.zip!a|b`c\x1b[2J\x00\ud800<script>",
    message="**bold** <img src=x> | [link](y)\nline",
    evidence=("\x9b31m",),
    fix="f",
)


def table(*required, **properties):
    return {"type": "object", "required": [*required], "properties": properties}


def rows(items, **more):
    return {"type": "array", "items": items, **more}


# What of the SARIF 2.1.0 schema applies to these logs: no schema of it is in any package of the test environment.
TEXT = table("text", text={"type": "string", "minLength": 1})
LEVEL = {"enum": ["none", "note", "warning", "error"]}
URI = {"type": "string", "pattern": r"^[A-Za-z0-9._~/%+!*'()-]+$"}
PLACE = table("artifactLocation", artifactLocation=table(uri=URI))
LOCATION = table(physicalLocation=PLACE, logicalLocations=rows(table("fullyQualifiedName")))
RULE = table("id", shortDescription=TEXT, fullDescription=TEXT, help=TEXT, defaultConfiguration=table(level=LEVEL))
SUPPRESSION = table(
    "kind", kind={"enum": ["inSource", "external"]}, status={"enum": ["accepted", "underReview", "rejected"]}
)
RESULT = table(
    "message",
    "ruleId",
    level=LEVEL,
    message=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    locations=rows({**LOCATION, "additionalProperties": False}),
    suppressions=rows(SUPPRESSION),
    partialFingerprints={"additionalProperties": {"type": "string"}},
)
DRIVER = table("name", "rules", rules=rows(RULE, uniqueItems=True))
RUN = table("tool", "results", tool=table("driver", driver=DRIVER), results=rows(RESULT))
SARIF = table("version", "runs", version={"const": "2.1.0"}, runs=rows(RUN, minItems=1))


def test_sarif_names_rules_results_and_places(report):
    document = json.loads(audit_sarif(report))

    jsonschema.validate(document, SARIF)
    (run,) = document["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(checks())
    linked = next(result for result in run["results"] if result["ruleId"] == "LB107")
    assert run["tool"]["driver"]["rules"][linked["ruleIndex"]]["id"] == "LB107"
    assert linked["level"] == "error"
    assert "NEEDED libonnxruntime.so.1" in linked["message"]["text"]
    location = linked["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "latenn-1.0-py3-none-manylinux_2_28_x86_64.whl"
    assert location["logicalLocations"][0]["name"] == "latenn/liblatenn.so"
    assert run["invocations"][0]["exitCode"] == 1
    assert run["invocations"][0]["toolExecutionNotifications"]


def test_sarif_and_markdown_group_by_cause():
    findings = [
        Finding(code="LB606", severity="error", subject=f"x.zip!{name}.so", message="m", fix="f") for name in "abc"
    ]
    report = AuditReport(subjects=1, findings=tuple(findings), packages=("x.zip",))
    (run,) = json.loads(audit_sarif(report))["runs"]
    assert len({result["partialFingerprints"]["cause/v2"] for result in run["results"]}) == 1
    assert [line for line in audit_markdown(report).splitlines() if "LB606" in line] == [
        "| ❌ error | LB606 | `a.so` and 2 other files | m | f |"
    ]


def test_sarif_keeps_waived_findings_as_suppressed(report):
    (run,) = json.loads(audit_sarif(report))["runs"]
    suppressed = [result for result in run["results"] if "suppressions" in result]
    assert [(result["ruleId"], result["suppressions"][0]["justification"]) for result in suppressed] == [
        ("LB611", "a sample")
    ]


def test_sarif_of_hostile_names_is_a_document():
    document = json.loads(audit_sarif(AuditReport(subjects=1, findings=(HOSTILE,))).encode())
    jsonschema.validate(document, SARIF)


def test_each_finding_has_a_fingerprint_of_its_own(report):
    (run,) = json.loads(audit_sarif(report))["runs"]
    prints = [result["partialFingerprints"]["finding/v2"] for result in run["results"]]
    assert len(set(prints)) == len(prints)


def test_junit_fails_for_errors_alone(report):
    root = defusedxml.ElementTree.fromstring(audit_junit(report))

    errors = [finding for finding in report.findings if finding.severity == "error"]
    assert (root.tag, root.get("failures")) == ("testsuites", str(len(errors)))
    assert root.get("tests") == str(len(report.findings) + len(report.waived) + len(report.skipped))
    assert root.get("skipped") == str(len(report.waived) + len(report.skipped))
    linked = next(case for case in root.iter("testcase") if case.get("classname") == "loadcheck.LB107")
    failure = linked.find("failure")
    assert "saw: NEEDED libonnxruntime.so.1" in failure.text
    assert failure.get("type") == "LB107"


def test_junit_of_a_clean_report_has_a_case_that_passed():
    root = defusedxml.ElementTree.fromstring(audit_junit(AuditReport(subjects=2)))
    assert (root.get("tests"), root.get("failures")) == ("1", "0")


def test_junit_of_hostile_names_is_xml():
    skipped = Skipped(check="LB101", subject="\x00\ud800", reason="\x1b")
    text = audit_junit(AuditReport(subjects=1, findings=(HOSTILE,), skipped=(skipped,)))
    assert defusedxml.ElementTree.fromstring(text.encode()).get("failures") == "1"


def test_markdown_counts_and_shows_errors_first(report):
    lines = audit_markdown(report).splitlines()

    assert lines[0] == "## ❌ loadcheck"
    assert lines[2].startswith("latenn-1.0-py3-none-manylinux_2_28_x86_64.whl: ")
    table_lines = [line for line in lines if line.startswith(("| ❌", "| ⚠️", "| 📝"))]
    assert table_lines == sorted(table_lines, key=lambda line: "❌⚠📝".index(line[2]))
    assert any("LB107" in line and "`latenn/liblatenn.so`" in line for line in table_lines)
    assert any("a sample" in line for line in lines)


def test_markdown_of_a_clean_report():
    assert audit_markdown(AuditReport(subjects=1)).startswith("## ✅ loadcheck\n\n1 package: 0 errors")


def test_no_name_is_markup():
    text = audit_markdown(AuditReport(subjects=1, findings=(HOSTILE,)))
    (table_line,) = [line for line in text.splitlines() if "LB602" in line]
    assert len(re.findall(r"(?<!\\)\|", table_line)) == 6, "the table keeps its columns"
    assert "\\<img" in table_line
    assert "\x1b" not in text
    text.encode()


@pytest.mark.parametrize("is_strict", [False, True])
def test_what_is_undecided_fails_only_where_it_fails_the_audit(is_strict):
    skip = Skipped(
        check="LB107", subject="a.whl!a.so", reason="libz.so may come from z", library="libz.so", unread=("z",)
    )
    report = AuditReport(subjects=1, skipped=(skip,), is_strict=is_strict)

    suites = defusedxml.ElementTree.fromstring(audit_junit(report))
    annotated = "::error title=undecided%3A a.whl!a.so::libz.so may come from z" in audit_github(report)
    assert (suites.get("failures"), suites.get("skipped")) == (("1", "0") if is_strict else ("0", "1"))
    assert annotated == is_strict

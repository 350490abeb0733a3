import json

import jsonschema
import pytest
from latebind.audit.catalog import checks, explain
from latebind.audit.pages import check_index, check_pages
from latebind.audit.render import RENDERERS, audit_json, audit_schema, audit_text
from latebind.errors import LatebindError
from latebind.model import AuditReport, Finding

from tests.audit.conftest import make_report


def test_json_is_what_the_schema_says(report):
    document = json.loads(audit_json(report))

    jsonschema.Draft202012Validator.check_schema(audit_schema())
    jsonschema.validate(document, audit_schema())
    assert list(document) == ["subjects", "findings", "waived", "skipped"]
    assert document["subjects"] == 1
    assert [row["reason"] for row in document["waived"]] == ["a sample"]
    assert document["skipped"]
    row = next(row for row in document["findings"] if row["code"] == "LB101")
    assert row == {
        "code": "LB101",
        "severity": "error",
        "subject": "latenn-1.0-py3-none-manylinux_2_28_x86_64.whl!latenn/liblatenn.so",
        "message": "links libonnxruntime.so.1, so it loads only where a file of exactly that name is found",
        "evidence": ["NEEDED libonnxruntime.so.1"],
        "fix": "Remove ONNX Runtime from target_link_libraries() and open it at run time with lb_bind().",
    }


def test_json_is_the_same_each_time(report, bench):
    assert audit_json(report) == audit_json(make_report(bench))


def test_text_says_what_where_why_and_what_next(report):
    text = audit_text(report)

    lines = text.splitlines()
    assert lines[0] == "latenn-1.0-py3-none-manylinux_2_28_x86_64.whl"
    assert any("error   LB101 latenn/liblatenn.so links libonnxruntime.so.1" in line for line in lines)
    assert any(line.strip() == "saw: NEEDED libonnxruntime.so.1" for line in lines)
    assert any(line.strip().startswith("fix: Remove ONNX Runtime from") for line in lines)
    assert "a sample" in text
    assert "latenn/a b.dylib: the file cannot be read" in text
    assert lines[-1].startswith("1 subject: ")
    assert lines[-1].endswith("skipped")
    assert "1 waived" in lines[-1]


def test_text_of_a_clean_report_is_one_line():
    assert (
        audit_text(AuditReport(subjects=2)) == "2 subjects: 0 errors, 0 warnings, 0 notes, 0 waived, 0 checks skipped\n"
    )


def test_a_name_with_a_line_feed_begins_no_line_of_the_report():
    finding = Finding(code="LB602", severity="error", subject="x.zip!a\n  error   LB101 b", message="m\nn", fix="f")
    lines = audit_text(AuditReport(subjects=1, findings=(finding,))).splitlines()
    assert lines[:3] == ["x.zip", "  error   LB602 a\\n  error   LB101 b m\\nn", "          fix: f"]


def test_no_control_character_of_a_hostile_name_reaches_the_terminal():
    finding = Finding(code="LB602", severity="error", subject="x.zip!\x1b[2J\x07", message="\x9b31m", fix="f")
    text = audit_text(AuditReport(subjects=1, findings=(finding,)))
    assert not [char for char in text if not char.isprintable() and char != "\n"]
    assert "\\x1b" in text


def test_json_of_a_name_that_is_no_text_is_json():
    finding = Finding(code="LB602", severity="error", subject="x.tar.gz!\udcff", message="m", fix="f")
    document = json.loads(audit_json(AuditReport(subjects=1, findings=(finding,))).encode())
    assert document["findings"][0]["subject"] == "x.tar.gz!\udcff"


def test_every_check_has_a_page_and_the_index_names_it():
    pages, index = check_pages(), check_index()
    for code, check in checks().items():
        assert check.rationale in pages[f"checks/{code}.md"]
        assert check.cure in pages[f"checks/{code}.md"]
        assert f"| {code} |" in index
    assert len(pages) == len(checks())


def test_explain_knows_codes_in_any_case_and_names_them_otherwise():
    assert explain("lb101").code == "LB101"
    with pytest.raises(LatebindError, match="LB999 is not a check") as caught:
        explain("LB999")
    assert "LB101" in caught.value.advice


def test_annotations_are_escaped_and_counted():
    finding = Finding(code="LB101", severity="error", subject="a,b:c.whl", message="50% of\nit", fix="Fix.")
    report = AuditReport(subjects=1, findings=(finding,) * 12)
    lines = RENDERERS["github"](report).splitlines()
    assert lines[0] == "::error title=LB101 a%2Cb%3Ac.whl::50%25 of%0Ait%0AFix."
    assert lines[10] == "2 more errors: see the report"
    assert lines[-1].startswith("1 subject: 12 errors")

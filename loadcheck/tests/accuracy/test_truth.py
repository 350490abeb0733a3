"""The page about published packages: in step with its data, every verdict with a command that confirms it."""

import re
import shutil
import zipfile

import pytest
from accuracy import evidence, truth

from loadcheck.model import AuditReport, Finding


def report(*expected):
    findings = tuple(
        Finding(code=code, severity="error", subject=f"a.whl!{name}", message="", evidence=seen, fix="")
        for code, name, seen in expected
    )
    return AuditReport(findings=findings, waived=(), skipped=(), subjects=1)


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "a.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/libonnxruntime.so", b"/home/ci/a/src.c")
        archive.writestr("a.dist-info/METADATA", "Requires-Dist: onnxruntime  >=1.19\n")
    return path


def test_every_verdict_of_the_page_has_a_command_that_confirms_it():
    for line in truth.PAGE.read_text("utf-8").splitlines():
        for system, field in zip(("linux", "macos", "windows"), line.split("|")[2:5], strict=False):
            assert evidence.list_unproved(system, re.findall(r"LB\d{3}", field)) == []


def test_the_page_has_a_row_for_each_project_and_a_column_for_each_system():
    verdicts = [{"code": "LB101", "counts": {"error": 2}}, {"code": "LB203", "counts": {"note": 1}}]
    wheels = [{"project": "tokenizers", "system": "Linux", "verdicts": verdicts}]
    page = truth.render({"wheels": wheels})
    line = next(line for line in page.splitlines() if line.startswith("| tokenizers"))
    assert [field.strip() for field in line.split("|")[2:5]] == ["**LB101** *LB203*", "no wheel", "no wheel"]


def test_a_verdict_that_no_command_confirms_is_a_gap():
    wheels = [{"file": "a.whl", "system": "macOS", "verdicts": [{"code": "LB101"}, {"code": "LB106"}]}]
    assert truth.gaps({"wheels": wheels}) == ["a.whl: no command in accuracy/evidence.py confirms LB106"]


@pytest.mark.skipif(
    not (shutil.which("unzip") and shutil.which("strings")), reason="not run: apt-get install unzip binutils"
)
@pytest.mark.parametrize(
    ("finding", "problem"),
    [
        (("LB506", "a.dist-info/METADATA", ("onnxruntime >=1.19",)), ""),
        (("LB506", "a.dist-info/METADATA", ("onnxruntime>=1.20",)), "does not show"),
        (("LB107", "a/libx.so", ("NEEDED libonnxruntime.so",)), "unzip -Z1 {wheel} shows /libonnxruntime.so"),
        (("LB103", "a/libonnxruntime.so", ("nothing of this form",)), "no command confirms"),
        (("LB104", "a/libonnxruntime.so", ("exports OrtGetApiBase",)), "no command confirms"),
    ],
)
def test_other_tools_confirm_a_finding_or_do_not(wheel, monkeypatch, finding, problem):
    monkeypatch.setattr(evidence, "CLEAR", ())
    monkeypatch.setattr(evidence, "PROOFS", tuple(proof for proof in evidence.PROOFS if "readelf" not in proof.command))
    problems = [text for _, text in evidence.confirm(wheel, "linux", report(finding)) if text]
    assert not problems if not problem else problem in problems[0]


@pytest.mark.skipif(shutil.which("unzip") is None, reason="not run: there is no unzip here: apt-get install unzip")
@pytest.mark.parametrize(("codes", "is_found"), [((), True), (("LB103",), False)])
def test_a_runtime_that_the_audit_overlooks_is_found(wheel, monkeypatch, codes, is_found):
    monkeypatch.setattr(evidence, "CLEAR", [proof for proof in evidence.CLEAR if proof.codes == "LB103"])
    results = evidence.confirm(wheel, "linux", report(*((code, "x", ()) for code in codes)))
    assert any("unzip -Z1 {wheel} shows libonnxruntime.so" in problem for _, problem in results) == is_found


def test_a_tool_that_is_not_there_is_not_a_pass(wheel, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    wheel = wheel.rename(wheel.with_name("a-1-py3-none-manylinux_2_28_x86_64.whl"))
    assert truth.confirm([wheel])
    assert "is not on this machine" in capsys.readouterr().out

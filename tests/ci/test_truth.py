"""The page about published packages: in step with its data, every verdict with evidence, every command harmless."""

import json
import re
import shutil
import zipfile

import evidence
import msgspec
import pinned
import pytest
import truth_page

DOCUMENT = json.loads(truth_page.RESULT.read_text("utf-8"))
ROWS = evidence.rows()


def row(**how):
    return evidence.Evidence(**{"wheel": "a.whl", "code": "LB103", "command": ("unzip", "-Z1", "{wheel}"), **how})


def document(*codes):
    return {"wheels": [{"file": "a.whl", "verdicts": [{"code": code} for code in codes]}]}


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "a.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a/libonnxruntime.so", b"some   words")
    return path


def test_the_page_is_in_step_with_its_data():
    for path, text in truth_page.outputs().items():
        assert (truth_page.ROOT / path).read_text("utf-8") == text


def test_every_verdict_has_evidence_and_all_evidence_its_verdict():
    assert evidence.gaps(DOCUMENT, ROWS) == []


def test_the_document_is_about_the_pinned_wheels():
    pins = pinned.pins(truth_page.WHEELS)
    assert {wheel["file"]: wheel["sha256"] for wheel in DOCUMENT["wheels"]} == dict(pins)


def test_each_project_is_there_for_every_system():
    places = [(wheel["project"], wheel["system"]) for wheel in DOCUMENT["wheels"]]
    projects = {project for project, _ in places}
    assert sorted(places) == sorted((project, system) for project in projects for system in truth_page._SYSTEMS)


def test_a_system_without_a_wheel_is_said_to_have_none():
    document = {"wheels": [wheel for wheel in DOCUMENT["wheels"] if wheel["system"] != "macOS"]}
    line = next(line for line in truth_page.render(document, ()).splitlines() if line.startswith("| [tokenizers]"))
    assert line.split("|")[3].strip() == "no wheel"


def test_every_link_of_the_page_leads_somewhere():
    text = (truth_page.ROOT / "docs/truth.md").read_text("utf-8")
    headings = set(re.findall(r"^### (.*)$", text, re.MULTILINE))
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert link[1:] in headings if link.startswith("#") else (truth_page.ROOT / "docs" / link).is_file(), link


@pytest.mark.parametrize(
    ("codes", "rows", "says"),
    [
        (["LB103"], [], "LB103 has no evidence"),
        ([], [row(shows=["x"])], "which the audit does not report"),
        (["LB103"], [row(shows=["x"]), row(shows=["x"], verdict="clear")], "is said to be clear of LB103"),
        ([], [row(wheel="b.whl", shows=["x"], verdict="clear")], "b.whl is in no row"),
    ],
)
def test_a_gap_is_told(codes, rows, says):
    (gap,) = evidence.gaps(document(*codes), rows)
    assert says in gap


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"command": ("rm", "{wheel}"), "shows": ["x"]}, "rm is none of"),
        ({"command": ("unzip", "-o", "{wheel}"), "shows": ["x"]}, "may not be given -o"),
        ({"command": ("unzip", "-l", "/etc/passwd"), "shows": ["x"]}, "names no file of the wheel"),
        ({"files": ["a"], "shows": ["x"]}, "other files than it uses"),
        ({}, "neither shows nor lacks"),
    ],
)
def test_a_row_that_is_not_harmless_or_proves_nothing_is_refused(tmp_path, monkeypatch, how, says):
    table = tmp_path / "evidence.toml"
    values = msgspec.to_builtins(row(**how)).items()
    table.write_text("[[evidence]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in values))
    monkeypatch.setattr(evidence, "TABLE", table)
    with pytest.raises(SystemExit, match=says):
        evidence.rows()


@pytest.mark.skipif(shutil.which("unzip") is None, reason="there is no unzip")
def test_commands_are_run_again_and_what_differs_is_told(wheel):
    good = row(shows=["a/libonnxruntime.so"], lacks=["openvino"])
    inside = row(command=("unzip", "-p", "{wheel}", "a/libonnxruntime.so"), shows=["some words"])
    bad = row(shows=["a/libopenvino.so"], lacks=["LIBONNXRUNTIME"])

    assert evidence.confirm([good, inside], [wheel]) == ([], [])
    wrong, missing = evidence.confirm([bad], [wheel])

    assert [text.partition(": ")[2] for text in wrong] == [
        "unzip -Z1 {wheel}: does not show 'a/libopenvino.so'",
        "unzip -Z1 {wheel}: shows 'LIBONNXRUNTIME'",
    ]
    assert not missing


@pytest.mark.skipif(shutil.which("strings") is None, reason="there are no binutils")
def test_members_are_laid_out_for_tools_that_read_files(wheel):
    files = row(files=["a/libonnxruntime.so"], command=("strings", "-a", "{files}"), shows=["some words"])
    assert evidence.confirm([files], [wheel]) == ([], [])


def test_a_tool_that_is_not_there_is_not_a_pass(wheel, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert evidence.confirm([row(shows=["x"])], [wheel]) == ([], ["a.whl LB103: unzip is not on this machine"])


def test_a_wheel_that_is_not_pinned_is_not_a_pass(wheel):
    wrong, _ = evidence.confirm([row(wheel="b.whl", shows=["x"])], [wheel])
    assert wrong

"""The page about published packages: in step with its data, every verdict with evidence, every command harmless."""

import json
import shutil
import zipfile

import evidence
import msgspec
import pinned
import pytest
import truth_page

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


def test_all_evidence_is_about_pinned_wheels():
    assert {row.wheel for row in ROWS} <= set(pinned.pins(truth_page.WHEELS))


def test_the_page_has_a_row_for_each_project_and_a_column_for_each_system():
    verdicts = [{"code": "LB101", "counts": {"error": 2}}, {"code": "LB203", "counts": {"note": 1}}]
    wheels = [{"project": "tokenizers", "system": "Linux", "verdicts": verdicts}]
    page = truth_page.render({"wheels": wheels})
    line = next(line for line in page.splitlines() if line.startswith("| tokenizers"))
    assert [field.strip() for field in line.split("|")[2:5]] == ["**LB101** *LB203*", "no wheel", "no wheel"]
    assert "| [LB101](checks/index.md) | 1 |" in page


@pytest.mark.parametrize(
    ("codes", "rows", "says"),
    [
        (["LB103"], [], "LB103 has no evidence"),
        ([], [row(shows=["x"])], "which the audit does not report"),
        (["LB103"], [row(shows=["x"]), row(shows=["x"], verdict="clear")], "is reported to be clear of LB103"),
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

"""The census of published packages: its goals hold, and a wrong label or a change of the audit's errors fails it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from accuracy import census

ROWS = census.read_table()
FAULTY = next(entry for entry in ROWS if entry.errors)


def change_errors(entry, **change):
    """A row whose errors differ in this."""
    return replace(entry, errors=tuple(replace(error, **change) for error in entry.errors))


def test_the_table_meets_its_goals():
    assert list(census.problems(ROWS)) == []


def test_the_table_is_wide_and_lists_each_pair_once():
    assert len({entry.file for entry in ROWS}) == len(ROWS) >= 150
    assert {entry.part for entry in ROWS} == set(census.GOALS)
    pairs = census.label_errors(ROWS)
    assert len({(name, error.code) for name, error in pairs}) == len(pairs)


def test_an_error_of_a_package_that_the_table_lacks_is_refused(tmp_path, monkeypatch):
    (tmp_path / "census.csv").write_text("file,part,sha256\na.whl,A,0\n", encoding="utf-8")
    (tmp_path / "errors.csv").write_text("file,code,label,evidence\nb.whl,LB301,right,x\n", encoding="utf-8")
    monkeypatch.setattr(census, "HERE", tmp_path)
    monkeypatch.setattr(census, "TABLE", tmp_path / "census.csv")

    with pytest.raises(ValueError, match=r"not in census\.csv: b\.whl"):
        census.read_table()


@pytest.mark.parametrize("part", census.GOALS)
def test_wrong_errors_miss_the_goal_of_their_part(part):
    entries = [change_errors(entry, label="false") if entry.part == part else entry for entry in ROWS]

    assert [text for text in census.problems(entries) if f"part {part}:" in text]


@pytest.mark.parametrize("change", [{"label": "wright"}, {"label": ""}, {"evidence": ""}, {"code": ""}])
def test_a_label_that_is_none_or_has_no_evidence_is_refused(change):
    bad = change_errors(FAULTY, **change)

    assert f"{bad.file} {bad.errors[0].code}: needs a label" in "\n".join(census.problems([bad]))


def test_errors_that_come_and_go_are_reported():
    entry = replace(FAULTY, errors=FAULTY.errors[:1])

    messages = list(census.differences([entry], {entry.file: {"LB999"}}))

    assert messages == [
        f"{entry.file}: LB999 is a new error without a label",
        f"{entry.file}: {entry.errors[0].code} is no longer an error",
    ]

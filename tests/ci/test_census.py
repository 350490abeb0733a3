"""The census of published packages: its goals hold, and a wrong label or a change of the audit's errors fails it."""

from __future__ import annotations

from dataclasses import replace

import census
import pytest

ROWS = census.read_table(census.TABLE)
LABELLED = [row for row in ROWS if row.code]


def test_the_table_meets_its_goals():
    assert list(census.problems(ROWS)) == []


def test_the_table_is_wide_and_lists_each_pair_once():
    assert len({row.file for row in ROWS}) >= 150
    assert {row.part for row in ROWS} == set(census.GOALS)
    assert len({(row.file, row.code) for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("part", census.GOALS)
def test_wrong_errors_miss_the_goal_of_their_part(part):
    rows = [replace(row, label="false") if row.part == part and row.code else row for row in ROWS]

    assert [text for text in census.problems(rows) if f"part {part}:" in text]


@pytest.mark.parametrize("change", [{"label": "wright"}, {"label": ""}, {"evidence": ""}])
def test_a_label_that_is_none_or_has_no_evidence_is_refused(change):
    bad = replace(LABELLED[0], **change)

    assert f"{bad.file} {bad.code}: needs a label" in "\n".join(census.problems([bad]))


def test_errors_that_come_and_go_are_reported():
    found = {row.file: set() for row in ROWS} | {LABELLED[0].file: {"LB999"}}

    told = list(census.differences([LABELLED[0]], found))

    assert told == [
        f"{LABELLED[0].file}: LB999 is a new error without a label",
        f"{LABELLED[0].file}: {LABELLED[0].code} is no longer an error",
    ]

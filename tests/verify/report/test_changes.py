"""What changed since the report of an earlier run: by ids, in every form; no earlier report is an error."""

import msgspec
import pytest

from latebind.model import State
from latebind.verify.report.changes import compare
from latebind.verify.report.data import Provenance, report_json
from latebind.verify.report.render import report_text, write_reports
from latebind.verify.report.view import view_of
from tests.verify.reports import HOSTILE, report, row


@pytest.mark.parametrize(
    ("before", "now", "kind"),
    [
        ("passed", "passed", ""),
        ("failed", "failed", ""),
        ("passed", "failed", "newly failed"),
        ("not run", "failed", "newly failed"),
        ("failed", "passed, emulated", "newly passed"),
        ("not run", "passed", "newly passed"),
        ("passed", "not run", "no longer run"),
        ("failed", "not run", "no longer run"),
        ("passed", "passed, emulated", "passed on another level"),
        ("glue passed", "passed", "passed on another level"),
    ],
)
def test_an_outcome_that_differs_is_a_change(before, now, kind):
    changes = compare(report(row(now)), report(row(before)))
    assert changes.ids == ({kind: (row().id,)} if kind else {})


def test_test_cases_of_one_report_alone_are_new_or_gone_whatever_their_outcome():
    new, gone, same = row("failed", scenario="fork"), row("failed", scenario=HOSTILE), row()
    changes = compare(report(new, same), report(same, gone))
    assert list(changes.ids) == ["new", "gone"]
    assert changes.ids["new"] == (new.id,)
    assert "\x1b" not in changes.ids["gone"][0]
    assert changes.summary == "1 new, 1 gone"


def write_twice(folder, first, second):
    """The texts of the second report in a folder."""
    write_reports(first, folder, lambda _: "")
    view, texts = write_reports(second, folder, lambda _: "")
    return {**texts, "text": report_text(view)}


def test_a_report_says_what_changed_since_the_one_that_it_replaces(tmp_path):
    first = report(row(), *(row("failed", scenario=f"s{number}") for number in range(8)))
    second = report(row("failed"), *(row(scenario=f"s{number}") for number in range(8)))
    texts = write_twice(tmp_path, first, second)
    assert "\nSince the last run: 1 newly failed, 8 newly passed\n" in texts["text"]
    assert f"\n### Since the last run\n\n- 1 newly failed: `{row().id}`\n- 8 newly passed: `" in texts["verify.md"]
    assert " and 3 more\n" in texts["verify.md"]
    assert "<summary>8 newly passed</summary>" in texts["verify.html"]


def test_the_terminal_is_silent_where_nothing_changed(tmp_path):
    texts = write_twice(tmp_path, report(row()), report(row()))
    assert "last run" not in texts["text"]
    assert "### Since the last run\n\nEvery test case ended as before.\n" in texts["verify.md"]
    assert "<p>Every test case ended as before.</p>" in texts["verify.html"]


OTHER = msgspec.structs.replace(report(row("failed")), source=Provenance(project="other"))


@pytest.mark.parametrize(
    "earlier",
    ["", "{", "[]", "null", "\x00\xff", '{"version": 3}', report_json(report(row()))[:-9], report_json(OTHER)],
    ids=["empty", "cut", "list", "null", "binary", "foreign", "damaged", "other-project"],
)
def test_a_damaged_or_foreign_report_is_replaced_without_a_word(tmp_path, earlier):
    (tmp_path / "verify.json").write_text(earlier, encoding="latin-1")
    view, texts = write_reports(report(row()), tmp_path, lambda _: "")
    assert view.changes is None
    assert not [name for name, text in texts.items() if "last run" in text]
    assert view_of(report(row())).with_state(State.PASSED)[0].result == view.rows[0].result


def test_an_earlier_report_that_is_a_folder_or_missing_is_no_error(tmp_path):
    assert write_reports(report(row()), tmp_path, lambda _: "")[0].changes is None
    assert view_of(report(row()), None).changes is None

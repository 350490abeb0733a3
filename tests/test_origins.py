"""docs/origins.md: each wish names tests that exist, or says why it is not run or not done."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import pytest

from tests.conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "origins.md"
HEAD = ["Sentence", "How it is shown", "Test, *not run* or *not done*"]
TEST = r"`[\w/]+\.py::test_\w+`"
TESTS = rf"{TEST}(?:, {TEST})*"
REASON = r"not (?:run|done): \S.{19,}"
EVIDENCE = re.compile(rf"{TESTS}|(?:{TESTS}; )?{REASON}")
DOCUMENTS = 5


class Row(msgspec.Struct, frozen=True):
    """A row of one document's table."""

    document: str
    sentence: str
    shown: str
    evidence: str

    def __str__(self) -> str:
        return f"{self.document}: {self.sentence}"[:70]


def read_cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def read_rows(page: str) -> list[Row]:
    """The rows of the tables that each section has; its first link names the document."""
    rows = []
    for section in page.split("\n## ")[1:]:
        document = re.search(r"\[([^\]]+)\]\(https://github\.com/", section)
        head, rule, *lines = [line for line in section.splitlines() if line.startswith("|")]
        assert document, section
        assert (read_cells(head), set(rule)) == (HEAD, set("|-"))
        rows += [Row(document[1], *read_cells(line)) for line in lines]
    return rows


@cache
def list_tests(path: Path) -> set[str]:
    return set(re.findall(r"^def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)) if path.is_file() else set()


def find_fault(row: Row) -> str:
    """What is wrong with a row's evidence; "" for none."""
    if not EVIDENCE.fullmatch(row.evidence):
        return "it has neither tests nor a reason"
    named = [name.strip("`").split("::") for name in re.findall(TEST, row.evidence)]
    return ", ".join(f"{path}::{test}" for path, test in named if test not in list_tests(ROOT / path))


ROWS = read_rows(PAGE.read_text("utf-8"))


def test_each_document_has_a_table() -> None:
    assert len({row.document for row in ROWS}) == DOCUMENTS


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_wish_has_a_test_or_a_reason(row: Row) -> None:
    assert all((row.sentence, row.shown))
    assert find_fault(row) == ""


def test_the_page_links_to_files_that_exist_and_to_github_alone() -> None:
    links = re.findall(r"\]\(([^)]+)\)", PAGE.read_text("utf-8"))
    own = [link.partition("#")[0] for link in links if not link.startswith("https://github.com/")]
    assert [link for link in own if not (PAGE.parent / link).is_file()] == []


@pytest.mark.parametrize(
    ("evidence", "fault"),
    [
        ("`tests/test_origins.py::test_each_document_has_a_table`", ""),
        ("not run: there is no Mac here that could run it", ""),
        ("`tests/test_origins.py::test_each_document_has_a_table`; not done: it is not in this version", ""),
        ("`tests/test_origins.py::test_no_such`", "tests/test_origins.py::test_no_such"),
        ("`tests/no_such.py::test_x`", "tests/no_such.py::test_x"),
        ("not run:", "it has neither tests nor a reason"),
        ("not done: later", "it has neither tests nor a reason"),
        ("yes", "it has neither tests nor a reason"),
        ("", "it has neither tests nor a reason"),
    ],
)
def test_a_missing_test_or_reason_is_found(evidence: str, fault: str) -> None:
    assert find_fault(Row("document", "sentence", "shown", evidence)) == fault

"""Messages that people posted find the section that explains them, whose advice was tried or says why it was not."""

import ast
from pathlib import Path

import msgspec
import pytest

from latebind.tables.messages import find_section
from tests.conftest import ROOT

NOT_RUN = "not run: "


class Posted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A message of a public thread."""

    text: str
    source: str
    section: str
    year: int = 0
    tried: str = ""
    why: str = ""


class Field(msgspec.Struct, frozen=True):
    """The kept set."""

    message: list[Posted]


POSTED = msgspec.toml.decode(Path(__file__).with_name("field_messages.toml").read_bytes(), type=Field).message
EXPLAINED = [posted for posted in POSTED if posted.section]


@pytest.mark.parametrize("posted", POSTED, ids=lambda posted: posted.source)
def test_a_posted_message_finds_its_section(posted):
    section = find_section(posted.text)
    if posted.section:
        assert section is not None
        assert section.title.startswith(posted.section)
    else:
        assert section is None
        assert posted.why


def test_the_set_is_large_and_most_of_it_is_explained():
    assert len({posted.text for posted in POSTED}) == len(POSTED) >= 60
    assert len(EXPLAINED) >= 55


def test_what_is_advised_was_tried_or_says_why_not():
    named = {posted.tried for posted in EXPLAINED if not posted.tried.startswith(NOT_RUN)}
    assert named
    missing = [name for name in named if name not in functions_of(name.partition("::")[0])]
    assert missing == []
    assert [posted.source for posted in EXPLAINED if posted.tried.removeprefix(NOT_RUN) == ""] == []


def functions_of(file):
    """The tests of a file, each as `file::name`."""
    tree = ast.parse((ROOT / file).read_text("utf-8"))
    return {f"{file}::{node.name}" for node in tree.body if isinstance(node, ast.FunctionDef)}

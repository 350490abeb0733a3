"""Messages of real loaders find their section, and each section has its parts."""

import re
from pathlib import Path

import msgspec
import pytest

from latebind.tables.messages import PAGE, find_section, sections
from tests.conftest import ROOT

PRINTED = msgspec.toml.decode(Path(__file__).with_name("loader_messages.toml").read_bytes())
CASES = [(title, message) for title, messages in PRINTED.items() for message in messages]


@pytest.mark.parametrize(("title", "message"), CASES, ids=[f"{title}-{i}" for i, (title, _) in enumerate(CASES)])
def test_a_message_as_a_loader_prints_it_finds_its_section(title, message):
    section = find_section(message)
    assert section is not None
    assert section.title.startswith(title)


def test_every_section_is_found_by_a_message():
    assert {find_section(message).title for _, message in CASES} == {section.title for section in sections()}


def test_every_message_and_title_of_a_section_finds_it():
    for section in sections():
        found = [find_section(text).title for text in (section.title, *section.messages)]
        assert set(found) == {section.title}


@pytest.mark.parametrize(
    "message", ["", "Segmentation fault (core dumped)", "ModuleNotFoundError: No module named 'onnxruntime'"]
)
def test_a_text_that_no_section_is_about_finds_none(message):
    assert find_section(message) is None


def test_each_section_says_what_is_wrong_and_what_to_do():
    for section in sections():
        headings = re.findall(r"^\*\*(\w+)\*\*$", section.body, re.MULTILINE)
        assert headings == [name for name in ("Cause", "Check", "Users", "Maintainers") if name in headings]
        assert {"Cause", "Maintainers"} <= set(headings)


def test_addresses_are_the_anchors_of_the_page():
    page = (ROOT / "docs" / "howto" / "messages.md").read_text("utf-8")
    anchors = [section.address.removeprefix(f"{PAGE}#") for section in sections()]
    assert len(set(anchors)) == len(anchors)
    assert [anchor for anchor in anchors if "--" in anchor] == []  # where GitHub's and the site's anchors would differ
    assert set(re.findall(r"\]\(#([^)]+)\)", page)) <= set(anchors)


def test_a_section_in_a_terminal_has_whole_addresses_and_no_marks_of_markdown():
    text = find_section("version `VERS_1.27.1' not found").text()
    assert "](" not in text
    assert "latebind's stub (https://github.com/latebind/latebind/blob/main/docs/howto/drop-in.md)" in text

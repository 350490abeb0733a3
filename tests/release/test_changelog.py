"""The section of one version in a changelog, and what is wrong with it."""

import pytest

from latebind.config.file import load
from latebind.release.changelog import Section, find_faults, find_section, release_notes
from tests.release.conftest import CHANGELOG
from tests.support.client import BOUND, write_client


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return load(write_client(tmp_path_factory.mktemp("tiny"), latebind=BOUND) / "latebind.toml")


def list_faults(config, text):
    return [why for why, _ in find_faults(config, release_notes(config, text))]


def test_the_section_of_a_version_is_its_own_alone():
    assert find_section(CHANGELOG, "1.2.3") == Section(" - 2026-11-20", "- Adds numbers faster.")
    assert find_section(CHANGELOG, "1.2.2") == Section(" - 2026-10-01", "- Older.")
    assert find_section(CHANGELOG, "1.2") is None
    assert find_section("## 2.0.0\n", "2.0.0") == Section()


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (CHANGELOG, "# tiny 1.2.3 - 2026-11-20\n\n- Adds numbers faster.\n"),
        ("## [Unreleased]\n\n- Something to come.\n", "# tiny 1.2.3, unreleased\n\n- Something to come.\n"),
        ("## [Unreleased]\n\n- Something to come.\n\n## [1.2.3]\n", "# tiny 1.2.3\n\n\n"),
        ("", "# tiny 1.2.3, unreleased\n\n\n"),
    ],
    ids=["released", "unreleased", "empty", "nothing"],
)
def test_what_is_not_released_yet_stands_in_for_a_version_without_a_section_only(config, text, notes):
    assert release_notes(config, text) == notes


@pytest.mark.parametrize(
    "body",
    ["", "### Added\n\n### Fixed", "<!-- - nothing\nyet -->", "-\n*", "[1.2.3]: https://example.org/1.2.3", "***"],
    ids=["nothing", "headings", "comment", "markers", "links", "rule"],
)
def test_a_section_without_an_entry_is_a_fault(config, body):
    text = f"## [Unreleased]\n\n- Later.\n\n## [1.2.3] - 2026-11-20\n\n{body}\n\n## [1.2.2]\n\n- Older.\n"
    assert list_faults(config, text) == ["has no entry in the section [1.2.3]"]
    assert list_faults(config, text.replace("2026-11-20\n", f"2026-11-20\n\n{body}\n\n- New.\n", 1)) == []
    assert list_faults(config, text.replace("2026-11-20\n", "2026-11-20\n\nThe first version.\n", 1)) == []


@pytest.mark.parametrize(
    "heading", ["- 2031-99-99", "- 2026-02-30", "(2025-02-29)", "- 2026/13/01", "2026.11.31 [YANKED]"]
)
def test_a_date_that_does_not_exist_is_a_fault(config, heading):
    (why,) = list_faults(config, f"## [1.2.3] {heading}\n\n- New.\n")
    assert "in the heading of [1.2.3], a day that does not exist" in why


@pytest.mark.parametrize(
    "heading", ["", "- 2026-11-20", "(2024-02-29)", ", 2026/12/01", "- TBD", "(https://a.org/v1.2.3)"]
)
def test_a_heading_with_a_real_date_or_none_is_right(config, heading):
    assert list_faults(config, f"## [1.2.3] {heading}\n\n- New.\n") == []


def test_a_changelog_without_the_version_is_a_fault(config):
    assert list_faults(config, "## [Unreleased]\n\n- More.\n") == ["has no section [1.2.3]"]

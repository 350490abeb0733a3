"""The section of one version in a changelog."""

from latebind.release.changelog import names, section
from tests.release.conftest import CHANGELOG


def test_the_section_of_a_version_is_its_own_alone():
    assert section(CHANGELOG, "1.2.3") == "- Adds numbers faster."
    assert section(CHANGELOG, "1.2.2") == "- Older."


def test_what_is_not_released_yet_stands_in_for_an_unknown_version():
    assert section(CHANGELOG, "9.9.9") == "- Something to come."
    assert section("", "1.0.0") == ""


def test_a_version_is_named_or_not():
    assert names(CHANGELOG, "1.2.3")
    assert not names(CHANGELOG, "1.2")
    assert names("## 2.0.0\n", "2.0.0")

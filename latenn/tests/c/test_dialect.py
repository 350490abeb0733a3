"""What MSVC compiles keeps to words that MSVC knows, as in the loader's sources."""

import pytest

from tests.support.building import ROOT
from tests.support.sources import gnu_words

NATIVE = ROOT / "latenn" / "native"
SOURCES = [*sorted((NATIVE / "src").rglob("*.c")), *sorted(NATIVE.rglob("*.h"))]


@pytest.mark.parametrize("source", SOURCES, ids=lambda file: file.name)
def test_no_word_is_gnus_own(source):
    assert gnu_words(source.read_text("utf-8")) == []

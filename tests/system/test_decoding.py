"""Files that are nested thousands of levels deep are unreadable, as others are, wherever latebind reads them."""

from __future__ import annotations

import pytest

from latebind.backend.stage import MANIFEST, open_stage
from latebind.pack.record import RECORD, Ledger

DEEP = '{"more": ' + "[" * 100_000


@pytest.fixture
def deep(tmp_path):
    """A folder with a ledger and a manifest."""
    for name in (RECORD, MANIFEST):
        (tmp_path / name).write_text(DEEP, encoding="utf-8")
    return tmp_path


def test_a_nested_stage_counts_as_none(deep):
    assert open_stage(deep) is None


def test_a_nested_ledger_counts_as_none(deep):
    (deep / RECORD).write_text('{"wheel": ' + DEEP, encoding="utf-8")
    assert not Ledger(deep).record.targets

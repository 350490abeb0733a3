"""Files that are nested thousands of levels deep are unreadable, as others are, wherever latebind reads them."""

from __future__ import annotations

import pytest

from latebind.build.stage import MANIFEST, open_stage
from latebind.errors import InputError
from latebind.pack.record import RECORD, Ledger
from loadcheck.engine.baseline import read_baseline

DEEP = '{"more": ' + "[" * 100_000


@pytest.fixture
def deep(tmp_path):
    """A folder with a ledger, a manifest and a baseline."""
    for name in (RECORD, MANIFEST, "baseline.json"):
        (tmp_path / name).write_text(DEEP, encoding="utf-8")
    return tmp_path


def test_a_nested_baseline_is_refused(deep):
    with pytest.raises(InputError, match="is not a baseline of loadcheck"):
        read_baseline(deep / "baseline.json")


def test_a_nested_stage_counts_as_none(deep):
    assert open_stage(deep) is None


def test_a_nested_ledger_counts_as_none(deep):
    (deep / RECORD).write_text('{"wheel": ' + DEEP, encoding="utf-8")
    assert not Ledger(deep).record.targets

import os
import sys
import zipfile

import pytest

from latebind.errors import InputError
from latebind.system.archive import Entry, source_date_epoch, write_zip
from tests.support.running import run_checked


def test_the_same_entries_give_the_same_bytes_in_any_order(tmp_path):
    entries = [Entry(name="b", data=b"2"), Entry(name="a", data=b"1", mode=0o755), Entry(name="z", data=b"0")]
    write_zip(tmp_path / "1.zip", entries, first=("z",))
    write_zip(tmp_path / "2.zip", entries[::-1], first=("z",))

    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "1.zip") as file:
        assert file.namelist() == ["z", "a", "b"]
        assert [info.external_attr >> 16 & 0o777 for info in file.infolist()] == [0o644, 0o755, 0o644]


def test_bytes_do_not_depend_on_time_zone_or_umask(tmp_path):
    code = (
        "import sys; from pathlib import Path; from latebind.system.archive import *; "
        "write_zip(Path(sys.argv[1]), [Entry(name='a', data=b'1')])"
    )
    for name, zone in (("1.zip", "UTC"), ("2.zip", "Asia/Tokyo")):
        command = [sys.executable, "-c", code, str(tmp_path / name)]
        run_checked(*command, env={**os.environ, "TZ": zone, "SOURCE_DATE_EPOCH": "1700000000"})
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()


def test_a_repeated_name_is_refused_and_the_old_archive_stays(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(b"old")
    with pytest.raises(InputError, match="more than once: a"):
        write_zip(path, [Entry(name="a", data=b"1"), Entry(name="a", data=b"2")])
    assert path.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


@pytest.mark.parametrize(("value", "seconds"), [("", 1580601600), ("0", 315532800), ("1700000000", 1700000000)])
def test_source_date_epoch(monkeypatch, value, seconds):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    assert source_date_epoch() == seconds


@pytest.mark.parametrize("value", ["yesterday", "-1", "1.5", "99999999999999"])
def test_a_source_date_epoch_that_is_none_is_refused(monkeypatch, value):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", value)
    with pytest.raises(InputError, match=value):
        source_date_epoch()

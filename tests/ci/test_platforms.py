"""The table of systems is what its public sources give."""

import pytest

from ci.gen import platforms
from loadcheck.engine.platforms import data

pytestmark = pytest.mark.slow


def test_the_table_is_what_the_sources_that_it_names_give(capsys):
    try:
        status = platforms.main(["--check"])
    except platforms.subprocess.CalledProcessError:
        pytest.skip("not run: the sources cannot be downloaded from GitHub and the package index")
    assert status == 0, capsys.readouterr().out


def test_a_table_that_differs_is_found(tmp_path, monkeypatch, capsys):
    wrong = tmp_path / "systems.toml"
    wrong.write_text(platforms.TABLE.read_text("utf-8").replace('"libz.so.1"', '"libz.so.2"'), "utf-8")
    monkeypatch.setattr(platforms, "TABLE", wrong)
    try:
        assert platforms.main(["--check"]) == 1
    except platforms.subprocess.CalledProcessError:
        pytest.skip("not run: the sources cannot be downloaded from GitHub and the package index")
    assert "systems.toml differs" in capsys.readouterr().out


def test_no_library_is_in_both_tables():
    assert not data().windows_libraries & data().windows_linked

"""The table of systems is what its public sources give."""

import pytest
from generate import systems

from loadcheck import InputError
from loadcheck.engine.platforms import data

pytestmark = pytest.mark.slow


def test_the_table_is_what_the_sources_that_it_names_give(capsys):
    try:
        status = systems.main(["--check"])
    except InputError:
        pytest.skip("not run: the sources cannot be downloaded from GitHub and the package index")
    assert status == 0, capsys.readouterr().out


def test_a_table_that_differs_is_found(tmp_path, monkeypatch, capsys):
    wrong = tmp_path / "systems.toml"
    wrong.write_text(systems.TABLE.read_text("utf-8").replace('"libz.so.1"', '"libz.so.2"'), "utf-8")
    monkeypatch.setattr(systems, "TABLE", wrong)
    try:
        assert systems.main(["--check"]) == 1
    except InputError:
        pytest.skip("not run: the sources cannot be downloaded from GitHub and the package index")
    assert "systems.toml differs" in capsys.readouterr().out


def test_no_library_is_in_both_tables():
    assert not data().windows_libraries & data().windows_linked

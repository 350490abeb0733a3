"""Packages broken on purpose: each way is caught by the layers that the committed page says, good ones by none."""

import shutil

import pytest

from ci.gen import sabotage_page
from latebind.config.file import load
from loadcheck.api import audit_here
from tests.support.broken import sabotage
from tests.support.broken.layers import audit_packages, break_packages, run_layers
from tests.support.broken.table import CONTROL, WAYS, way
from tests.support.needs import dotnet_environment

ROWS = sabotage_page.read_measurements()
CONFIG = load(sabotage.LATENN / "latebind.toml")
BROKEN = ("latenn-", "latenn_onnxruntime-", "Latenn.0", "Latenn.OnnxRuntime.")
BY_AUDIT = sorted(name for name, entry in ROWS.items() if entry.audit)


@pytest.fixture(scope="session")
def good(latenn_packages, tmp_path_factory):
    """Those packages that are broken: the others would only be audited with each."""
    folder = tmp_path_factory.mktemp("good")
    for path in latenn_packages.iterdir():
        if path.name.startswith(BROKEN):
            shutil.copyfile(path, folder / path.name)
    return folder


def test_the_table_has_a_row_for_every_way():
    assert list(ROWS) == [way.name for way in WAYS]


def test_every_way_is_caught_and_the_packages_as_built_by_nothing():
    assert len(WAYS) > 28
    hygiene = {way.name for way in WAYS if way.is_hygiene}
    assert {name for name, entry in ROWS.items() if not entry.layers} == {CONTROL.name, *hygiene}
    assert all(set(ROWS[name].audit.values()) == {"note"} for name in hygiene)
    assert not ROWS[CONTROL.name].audit


def test_what_was_not_run_is_reported_and_caught_by_the_audit():
    text = sabotage_page.render(ROWS)
    for name, entry in ROWS.items():
        if any(result.startswith("not run") for result in entry.runs):
            assert entry.layers == ["audit"]
            assert f"- `{name}`: " in text


def test_writing_a_measured_table_keeps_the_ways_that_were_not_tried(monkeypatch, tmp_path):
    text = sabotage_page.table_text(ROWS)
    monkeypatch.setattr(sabotage_page, "RESULT", tmp_path / "caught.toml")
    sabotage_page.RESULT.write_text(text, encoding="utf-8")
    assert sabotage.document({}) == text


@pytest.mark.slow  # packing for six targets
def test_the_audit_finds_nothing_in_the_packages_as_they_were_built(good, tmp_path):
    assert not audit_packages(break_packages(CONTROL, good, tmp_path), CONFIG)


@pytest.mark.slow  # as above
@pytest.mark.parametrize("name", BY_AUDIT)
def test_the_audit_finds_what_the_page_says(good, tmp_path, name):
    assert audit_packages(break_packages(way(name), good, tmp_path), CONFIG, audit_here) == ROWS[name].audit


@pytest.mark.slow  # environments are made and .NET projects built
@pytest.mark.parametrize(
    ("name", "stage"),
    [
        ("requires-core", "install"),
        ("prints-at-load", "load"),
        ("numbers-off", "inference"),
        ("npm-binding-lacking", "load"),
    ],
)
def test_a_later_layer_catches_what_the_page_says(latenn_packages, tmp_path, monkeypatch, name, stage):
    for key, value in dotnet_environment().items():
        monkeypatch.setenv(key, value)
    caught = run_layers(way(name), latenn_packages, tmp_path, CONFIG)
    if "not run: no-index" in caught.npm:
        pytest.skip("not run: the npm registry cannot be reached")
    assert stage in caught.runs
    assert caught.runs == ROWS[name].runs

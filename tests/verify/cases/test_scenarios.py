"""The table of scenarios is the only place that knows their names."""

import ast
from dataclasses import MISSING, fields
from pathlib import Path

import latebind
from latebind.verify.cases.scenarios import SCENARIOS
from latebind.verify.declared import ORDINARY, Scenario, Situation
from tests.conftest import ROOT

GOLDEN = ROOT / "tests/golden/scenarios.txt"
"""What each scenario demands. A change weakens or strengthens what a passed test case says."""
PACKAGE = Path(latebind.__file__).parent
TABLE = PACKAGE / "verify" / "cases" / "scenarios.py"
WORDS = {"frozen": "layout", "decoy": "folder", "path": "placeholder", "files": "JSON key", "spawn": "multiprocessing",
         "fork": "multiprocessing", "extra": "PEP 508", "environment": "TOML key"}  # fmt: skip
"""Names that also are ordinary words in other modules, and what they mean there."""


def texts(file):
    return {node.value for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Constant)}


def test_no_other_module_knows_a_scenario_by_name():
    names = {scenario.name for scenario in SCENARIOS} - set(WORDS)
    by_file = {str(file.relative_to(PACKAGE)): names & texts(file) for file in PACKAGE.rglob("*.py") if file != TABLE}
    assert {file: sorted(mentioned) for file, mentioned in by_file.items() if mentioned} == {}


def test_names_are_unique_and_every_negative_scenario_is_required_where_it_is_tried():
    assert len({scenario.name for scenario in SCENARIOS}) == len(SCENARIOS)
    assert [scenario.name for scenario in SCENARIOS if scenario.required == "for every target"] == ["works"]
    assert all(
        (scenario.required == "where it is tried") == scenario.negative
        for scenario in SCENARIOS
        if scenario.name != "works"
    )


def describe(row):
    """A row's fields that differ from their defaults; a function by its name, which other tests show."""
    shown = [field for field in fields(row) if field.name not in {"name", "title"}]
    told = [(field.name, getattr(row, field.name)) for field in shown if getattr(row, field.name) != field.default]
    return "\n".join([f"{row.name}: {row.title}", *(f"  {name}: {show(value)}" for name, value in told)])


def show(value):
    if isinstance(value, Situation):
        told = {field.name: getattr(value, field.name) for field in fields(value)}
        return ", ".join(f"{name}={show(part)}" for name, part in told.items() if part != getattr(ORDINARY, name))
    return value.__name__ if callable(value) else repr(value)


def test_what_each_scenario_demands():
    defaults = [f"  {field.name}: {field.default!r}" for field in fields(Scenario) if field.default is not MISSING]
    shown = [line for line in defaults if "set_up:" not in line]
    text = "\n".join(["Unless said otherwise:", *shown, *map(describe, SCENARIOS)]) + "\n"
    assert text == GOLDEN.read_text("utf-8"), "a test case demands something else: check it, and change the table"


def test_all_cases_are_computed_where_all_versions_are_tried_and_a_sample_elsewhere():
    samples = {versions: Scenario(name="x", title="", versions=versions).sample for versions in
               ("all", "latest", "below", "none")}  # fmt: skip
    assert samples == {"all": 0, "latest": 25, "below": 25, "none": 25}
    assert [one.name for one in SCENARIOS if not one.sample] == ["works", "c-host"]


def test_what_passing_shows():
    assert [one.name for one in SCENARIOS if not one.negative and not one.proves] == [
        "files", "loads-in-c", "from-sdist",
    ]  # fmt: skip
    assert not any(one.proves for one in SCENARIOS if one.negative)

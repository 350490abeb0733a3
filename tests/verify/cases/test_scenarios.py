"""The table of scenarios is the only place that knows their names."""

import ast
from pathlib import Path

import latebind
from latebind.verify.cases.scenarios import SCENARIOS

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

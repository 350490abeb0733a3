"""The gate: which cells must have passed, and what it says of those that have not."""

import dataclasses
import json
from pathlib import Path

import msgspec
import pytest
from latebind.configfile import load
from latebind.verify.files import write_reports
from latebind.verify.gate import RENDERERS, judge_gate, patterns
from latebind.verify.scenarios import SCENARIOS

from tests.client import CONFIG as TINY
from tests.client import write_client
from tests.verify.reports import report, row

LATENN = load(Path(__file__).resolve().parents[2] / "latenn" / "latebind.toml")


def requiring(*globs, include=("linux-x64",)):
    document = msgspec.structs.replace(
        LATENN.document,
        verify=msgspec.structs.replace(LATENN.document.verify, required=globs),
        targets=msgspec.structs.replace(LATENN.document.targets, include=include),
    )
    return dataclasses.replace(LATENN, document=document)


def blocked(config, *rows, machine=None):
    return {block.subject: block for block in judge_gate(config, report(*rows, machine=machine)).blocks}


def test_by_default_works_of_every_target_and_every_negative_scenario_is_required():
    globs = {pattern.glob for pattern in patterns(requiring(include=("linux-x64", "win-x64")))}
    negative = [scenario.name for scenario in SCENARIOS if scenario.negative]
    assert globs == {f"*/{rid}/*/{name}" for rid in ("linux-x64", "win-x64") for name in ("works", *negative)}


def test_the_gate_is_open_when_every_required_cell_passed():
    gate = judge_gate(requiring(), report(row(), row(scenario="absent"), row("not run", scenario="extra")))
    assert (gate.exit_status, [cell.scenario for cell in gate.required]) == (0, ["works", "absent"])


def test_a_failed_cell_blocks_with_its_words_and_its_log():
    bad = row("failed", reason="it broke")
    block = blocked(requiring(), bad)[bad.id]
    assert "it broke" in block.why
    assert bad.log in block.cure


def test_a_cell_that_ran_nowhere_blocks_with_the_command():
    idle = row("not run", scenario="absent")
    block = blocked(requiring(), row(), idle)[idle.id]
    assert "no-machine" in block.why
    assert "latebind verify --target linux-x64" in block.cure


def test_a_target_without_a_cell_blocks():
    block = blocked(requiring(include=("linux-x64", "osx-x64")), row())["*/osx-x64/*/works"]
    assert "matches no cell" in block.why
    assert "--target osx-x64" in block.cure


def test_a_pattern_of_the_configuration_that_matches_nothing_blocks():
    assert list(blocked(requiring("wheel/*/works", "nupkg/*"), row())) == ["nupkg/*"]


def test_what_is_not_required_may_fail():
    assert blocked(requiring("*/works"), row(), row("failed", scenario="absent")) == {}


def test_a_share_that_nobody_reported_blocks():
    machine = {"target": "linux-x64", "targets": "linux-x64", "share": "2/3"}
    blocks = blocked(requiring("*/works"), row(), machine=machine)
    assert list(blocks) == ["share 1/3 of linux-x64", "share 3/3 of linux-x64"]
    assert "latebind verify --target linux-x64 --shard 1/3" in blocks["share 1/3 of linux-x64"].cure


@pytest.mark.parametrize("form", RENDERERS)
def test_every_form_tells_what_blocks_and_what_next(form):
    bad = row("failed", reason="it\x1b | broke")
    text = RENDERERS[form](judge_gate(requiring(), report(bad)))
    assert bad.id in text
    assert "mend it, and run" in text
    assert "\x1b" not in text
    if form == "json":
        document = json.loads(text)
        assert document["required"] == [{"id": bad.id, "outcome": "failed"}]
        assert set(document["blocks"][0]) == {"subject", "why", "cure"}


@pytest.mark.parametrize(("state", "status", "last"), [("passed", 0, "open"), ("not run", 1, "shut, 1 block")])
def test_the_command(latebind, tiny, state, status, last):
    write_client(tiny, latebind=TINY + '[verify]\npython = "smoke.py"\nrequired = ["*/works"]\n')
    write_reports(report(row(state)), tiny / "reports", lambda _: "")
    ended = latebind("-C", tiny, "gate")
    assert (ended.returncode, ended.stderr) == (status, "")
    assert ended.stdout.rstrip().endswith(last)
    named = latebind("-C", tiny, "gate", tiny / "reports" / "verify.json", "--format", "json")
    assert (named.returncode, len(json.loads(named.stdout)["blocks"])) == (status, status)


def test_without_a_report_the_command_says_which(latebind, tiny):
    ended = latebind("-C", tiny, "gate")
    assert ended.returncode == 2
    assert "verify.json: No such file" in ended.stderr

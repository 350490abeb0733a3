"""What other tools print is read as short reports, and the page explains each of them."""

from __future__ import annotations

import json
import re

import pytest
from accuracy import census, peers, peers_page

ROWS = census.read_table()


def write_auditwheel_report(tag, *missing, isa=False):
    """What `auditwheel show --json` prints."""
    return json.dumps({"overall_tag": tag, "external_libs": dict.fromkeys(missing), "unsupported_isa": isa})


def abi3(*strangers, fits=True):
    """What `abi3audit --report` prints."""
    result = {"non_abi3_symbols": strangers, "is_abi3_baseline_compatible": fits, "computed": "3.12"}
    return json.dumps({"specs": {"a.whl": {"wheel": [{"result": result}, {"result": None}]}}})


@pytest.mark.parametrize(
    ("read", "output", "messages"),
    [
        (peers.auditwheel, write_auditwheel_report("manylinux_2_17_x86_64"), []),
        (peers.auditwheel, write_auditwheel_report("manylinux_2_28_x86_64"), ["needs manylinux_2_28_x86_64"]),
        (
            peers.auditwheel,
            write_auditwheel_report("linux_x86_64", "libb.so", "liba.so"),
            ["no tag fits: liba.so, libb.so"],
        ),
        (peers.auditwheel, write_auditwheel_report("musllinux_1_2_x86_64", isa=True), ["unsupported_isa"]),
        (
            peers.delocate,
            "ERROR:delocate.libsana:\n@rpath/libomp.dylib not found:\n  Needed by: a",
            ["not found: libomp.dylib"],
        ),
        (peers.delocate, "x.dylib has a minimum target of 11.0\ny has a minimum target of 13.5", ["needs macOS 13.5"]),
        (peers.delvewheel, "will be copied\n    VCOMP140.dll (Error: Not Found)\n", ["not found: vcomp140.dll"]),
        (peers.abi3audit, abi3(), []),
        (peers.abi3audit, abi3("_PyX", fits=False), ["not in the stable ABI: _PyX", "needs Python 3.12"]),
        (peers.check_wheel_contents, "a.whl: W002: Wheel contains\n  b\na.whl: W002: x", ["W002"]),
        (peers.check_wheel_contents, "a.whl: OK", []),
    ],
)
def test_what_a_tool_prints_is_read_as_a_short_report(read, output, messages):
    assert list(read(output, "a-1-cp312-cp312-manylinux2014_x86_64.manylinux_2_17_x86_64.whl")) == messages


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("a-1-cp312-cp312-manylinux1_x86_64.whl", {"auditwheel", "check-wheel-contents"}),
        ("a-1-cp39-abi3-win_arm64.whl", {"delvewheel", "abi3audit", "check-wheel-contents"}),
        ("a-1-py3-none-any.whl", {"check-wheel-contents"}),
    ],
)
def test_a_tool_reads_the_wheels_that_it_is_made_for(name, tools):
    assert {tool.name for tool in peers.TOOLS if tool.reads(name)} == tools


def test_the_table_has_each_tool_that_reads_a_wheel_and_every_report_is_explained():
    for entry in (entry for entry in ROWS if entry.reports):
        is_run = not entry.reports["latebind"].startswith("not run")
        assert entry.reports.keys() - {"latebind"} == {
            tool.name for tool in peers.TOOLS if is_run and tool.reads(entry.file)
        }, entry
        for tool, report in entry.reports.items():
            for part in report.split("; ") if tool != "latebind" else ():
                explanations = [
                    difference
                    for difference in peers_page.DIFFERENCES
                    if difference.tool == tool and re.search(difference.pattern, part)
                ]
                assert explanations or not part or part.startswith(("failed", "not finished")), entry


def test_the_table_is_written_as_it_is_read(tmp_path, monkeypatch):
    before = census.TABLE.read_text(encoding="utf-8")
    monkeypatch.setattr(census, "TABLE", tmp_path / "census.csv")

    peers.write_table(ROWS)

    assert census.TABLE.read_text(encoding="utf-8") == before


def test_what_other_tools_see_is_found():
    ours = peers_page.of_latebind(ROWS)
    count, heavy, notes = peers_page.recall(ROWS, ours)
    assert heavy + notes >= 0.95 * count
    blind = {name: {} for name in ours}
    assert peers_page.recall(ROWS, blind)[1:] == (0, 0)

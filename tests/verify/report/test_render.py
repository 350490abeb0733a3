"""What `latebind verify` prints at its end: each cause once with its log, and the count; texts as tables show them."""

from pathlib import Path

import pytest

from latebind.backend.targets import Rid
from latebind.commands.verify import _leave_out_old_news, _show
from latebind.model import Case, Outcome, State
from latebind.system.log import LOG
from latebind.verify.report.page import report_html
from latebind.verify.report.render import report_markdown, report_text
from latebind.verify.report.view import synopsis, view_of
from latebind.verify.runner import _describe_end
from tests.verify.reports import report, row

CASE = Case(
    kind="wheel",
    target=Rid("linux-x64"),
    consumer="python3.11",
    runtime="onnxruntime",
    version="1.32.0",
    scenario="works",
)
TRACEBACK = """the consumer failed with status 1
Traceback (most recent call last):
  File "smoke.py", line 3, in <module>
    import demo
ImportError: libcore.so.1: cannot open shared object file: No such file or directory
"""


def test_one_cause_is_shown_once_with_its_exception_its_test_cases_and_a_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed = [row("failed", version=f"1.{n}.0", reason=TRACEBACK, log=f"logs/{n}.log") for n in range(19, 50)]
    lines = report_text(view_of(report(*failed, row())), Path("reports").resolve()).splitlines()
    assert lines[0] == "✗ ImportError: libcore.so.1: cannot open shared object file: No such file or directory"
    assert "    import demo" in "\n".join(lines)
    assert [line for line in lines if line.startswith("  in ")] == [
        f"  in wheel/linux-x64/python3.11/onnxruntime-1.{n}.0/works" for n in range(19, 24)
    ]
    assert lines[-4:] == [
        "  and 26 more test cases",
        "  log: reports/logs/19.log",
        "1 passed, 31 failed, 0 not run. Report: reports/verify.html",
        "Verification failed: 31 test cases failed.",
    ]


def test_a_report_elsewhere_is_named_by_its_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        report_text(view_of(report(row())), Path("/reports"))
        == "1 passed, 0 failed, 0 not run. Report: /reports/verify.html"
    )


def test_failures_come_last_and_passes_only_when_asked_for(monkeypatch):
    everything = report(row("failed", version="1.20", reason="it broke"), row("not run", version="1.21"), row())
    marks = [line[0] for line in report_text(view_of(everything)).splitlines() if line[0] in "✓✗–"]
    assert marks == ["–", "✗"]
    monkeypatch.setattr(LOG, "level", "verbose")
    shown = report_text(view_of(everything)).splitlines()
    assert [line[0] for line in shown if line[0] in "✓✗–"] == ["✓", "–", "✗"]
    assert shown[0].startswith("✓ wheel/linux-x64/python3.11/onnxruntime-")


def test_what_was_not_run_is_shown_with_the_way_out():
    summary = "another user cannot reach /tmp/x\nhelp: chmod o+x /tmp/x"
    shown = report_text(view_of(report(row("not run", reason="no-access", summary=summary), row()))).splitlines()
    assert shown[0].endswith("not run: no-access (another user cannot reach /tmp/x)")
    assert shown[1] == "    help: chmod o+x /tmp/x"


def test_a_headline_that_names_the_exception_is_the_cause_and_is_not_repeated():
    reason = "verify/smoke.py wrote no result: ImportError: no\n  Traceback\n  ImportError: no\nSee docs/consumers.md."
    shown = report_text(view_of(report(row("failed", reason=reason)))).splitlines()
    assert shown[:3] == [
        "✗ verify/smoke.py wrote no result: ImportError: no",
        "      Traceback",
        "      ImportError: no",
    ]


def test_folders_and_versions_of_a_test_case_do_not_make_two_causes():
    failed = [row("failed", version=f"1.{n}.0", reason=f"1.{n}.0 was not found in /work/{{}}/x") for n in (19, 20)]
    named = [
        row("failed", version=case.version, reason=case.reason.format(case.id.replace("/", "_"))) for case in failed
    ]
    shown = report_text(view_of(report(*named)))
    assert shown.count("✗ ") == 1
    assert shown.startswith("✗ 1.19.0 was not found in /work/wheel_linux-x64_python3.11_onnxruntime-1.19.0_works/x\n")


def test_each_runtime_version_that_is_newer_than_any_tried_is_named_with_its_outcome():
    newer = {"newer_than": "1.31"}
    tried = row("failed", version="1.31.0")
    rows = [row(version="1.32.0", facts=newer), row("failed", version="1.33.0", facts=newer), tried]
    lines = report_text(view_of(report(*rows))).splitlines()
    assert [line for line in lines if line.startswith("New: ")] == [
        "New: onnxruntime 1.32.0, which passed; latebind was tried with versions up to 1.31.",
        "New: onnxruntime 1.33.0, with failures; latebind was tried with versions up to 1.31.",
    ]


def test_a_newer_runtime_is_named_once(tmp_path, capsys):
    told = tmp_path / "news.txt"
    newer = {"newer_than": "1.31"}
    for rows in ([row(version="1.32.0", facts=newer)], [row(version=f"1.{n}.0", facts=newer) for n in (32, 33)]):
        _show(_leave_out_old_news(view_of(report(*rows)), told), {}, "text", tmp_path)
    lines = [line.partition(",")[0] for line in capsys.readouterr().out.splitlines() if line.startswith("New: ")]
    assert lines == ["New: onnxruntime 1.32.0", "New: onnxruntime 1.33.0"]


def test_a_case_that_passes_is_a_line_without_its_message(monkeypatch):
    outcome = Outcome(case=CASE, state=State.PASSED, summary="1 case passed\nmore", seconds=2.84)
    assert _describe_end(outcome) == f"passed   {CASE.id}  2.8 s"
    monkeypatch.setattr(LOG, "level", "verbose")
    assert _describe_end(outcome) == f"passed   {CASE.id}  1 case passed  2.8 s"


def test_without_a_network_the_last_lines_say_what_to_do():
    failure, advice = report_text(view_of(report(row("not run", reason="no-index")))).splitlines()[-2:]
    assert failure == (
        "Verification failed: no test case that loads the library could run: the package index cannot be reached."
    )
    assert advice == (
        "help: Check the network, unset UV_OFFLINE, or set UV_DEFAULT_INDEX to a mirror. For packages that uv has "
        "cached, none of this is necessary."
    )


def test_without_a_machine_the_last_line_says_where_else_to_run():
    idle = row("not run", reason="no-machine")
    last = report_text(view_of(report(idle))).splitlines()[-1]
    assert last.startswith("help: Verify on a machine of that target, in CI (latebind ci), from a kit (latebind")
    assert "help:" not in report_text(view_of(report(idle, row())))


def test_what_would_run_the_others_is_counted_once_each_and_the_most_useful_first():
    rows = [
        row("not run", scenario="absent", reason="no-dotnet"),
        *(row("not run", target="osx-arm64", scenario=name, reason="no-machine") for name in ("works", "absent")),
        row("not run", target="osx-arm64", scenario="threads", reason="not-emulated"),
        row(),
    ]
    view = view_of(report(*rows))
    assert view.lacks == (
        "a Mac (arm64): 3 test cases (latebind verify --kit DIR, and one command there)",
        "a .NET SDK: 1 test case",
    )
    assert all(f"  {lack}\n" in report_text(view) for lack in view.lacks)
    assert "- a .NET SDK: 1 test case" in report_markdown(view)
    assert "<li>a .NET SDK: 1 test case</li>" in report_html(view, lambda _: "")


FOLDER = "/srv/a b/build/verify/work/wheel_linux-x64_python3.11_onnxruntime-1.31.1_too-old/venv/lib/capi"


@pytest.mark.parametrize("folder", [FOLDER, FOLDER.replace("/", "\\"), f"C:{FOLDER}"])
def test_a_long_sentence_gives_up_its_folders_first(folder):
    text = f'message: "ONNX Runtime 1.31.1 at {folder}/libonnxruntime.so is too old: 99.0 or newer is needed. Get one."'
    short = synopsis(text, 150)
    assert "/libonnxruntime.so is too old: 99.0 or newer is needed. Get one." in short
    assert "python3.11" not in short
    assert "left out" not in short


def test_then_its_middle():
    assert synopsis("begin " + "x" * 300 + " end", 40) == f"begin {'x' * 14} … {'x' * 16} end"


def test_what_fits_stays_as_it_is():
    assert synopsis(f"at {FOLDER}", 200) == f"at {FOLDER}"


def test_each_consumer_has_a_table_with_a_row_for_each_scenario_and_runtime_and_a_column_for_each_target():
    cases = [row(version=version) for version in ("1.9.0", "latest", "1.31.1")]
    others = [row(scenario="absent", runtime="", version=""), row(runtime="openvino"), row(runtime="", version="")]
    elsewhere = row(target="win-x64", version="1.9.0")

    ((_kind, _consumer, grid),) = view_of(report(*cases, *others, elsewhere)).groups

    assert grid.targets == ("linux-x64", "win-x64")
    assert [(scenario, runtime, *map(len, cells)) for scenario, runtime, cells in grid.rows] == [
        ("works", "no runtime", 1, 0),
        ("works", "onnxruntime 1.9.0", 1, 1),
        ("works", "onnxruntime 1.31.1", 1, 0),
        ("works", "onnxruntime latest", 1, 0),
        ("works", "openvino 1.31.1", 1, 0),
        ("absent", "no runtime", 1, 0),
    ]


def test_test_cases_whose_names_differ_in_what_cannot_be_printed_alone_stay_apart():
    ((_kind, _consumer, grid),) = view_of(report(row(scenario="x\x00"), row("failed", scenario=r"x\x00"))).groups
    assert [[len(cell) for cell in cells] for _, _, cells in grid.rows] == [[2]]

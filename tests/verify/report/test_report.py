"""The report as JSON, for the console, as Markdown and as JUnit."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest
from defusedxml import ElementTree as ET  # noqa: N817  # as it is called everywhere

from latebind.errors import InputError
from latebind.model import Artifact, Case, Outcome, State
from latebind.verify.report.data import (
    Elsewhere,
    Provenance,
    is_newer_minor,
    list_reasons,
    read_log,
    read_report,
    report_json,
    report_of,
    verify_schema,
)
from latebind.verify.report.page import report_html
from latebind.verify.report.render import report_junit, report_markdown, report_text, write_reports
from latebind.verify.report.view import report_count, view_of
from loadcheck import Rid, Sha256
from tests.verify.reports import HASH, HOSTILE, report, row

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
SOURCE = Provenance(project="latenn", version="0.1.0", commit="1f92bad" + "0" * 33, date="2026-11-21")
EVERY = report(
    row(seconds=12.34, cached=True),
    row("failed", version="1.19.2", reason="it | broke\nbadly <b>", elsewhere=(Elsewhere(1, State.PASSED),)),
    *(row("not run", target="win-x64", version=f"1.{n}.0", reason=why) for n, why in enumerate(list_reasons())),
    row(scenario="absent", runtime="", version="", summary="the sentence is there", started=0.0),
    row(kind="nupkg", consumer="dotnet-build", started=1.51,
        facts={"out_of_scope": {"test_if_seq": "res is a sequence"}}, elsewhere=(Elsewhere(1, State.PASSED),)),
    packages=("x-1.0.tar.gz", "x-1.0-py3-none-any.whl"),
)  # fmt: skip
EVERY = msgspec.structs.replace(
    EVERY, machines=(*EVERY.machines, {"target": "linux-x64", "python": "3.12.1"}), source=SOURCE
)


def test_the_report_fits_its_schema_and_reasons_are_a_closed_list():
    jsonschema.Draft202012Validator.check_schema(verify_schema())
    document = json.loads(report_json(EVERY))
    jsonschema.validate(document, verify_schema())
    document["cases"][2]["reason"] = "because"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, verify_schema())


@pytest.mark.parametrize(
    ("version", "is_newer"), [("1.32.0", True), ("2.0", True), ("1.31.1", False), ("1.4.0", False), ("", False)]
)
def test_a_version_is_newer_by_its_first_two_numbers(version, is_newer):
    assert is_newer_minor(version, "1.31") is is_newer


def test_what_was_verified_becomes_a_report_that_is_read_back(tmp_path):
    case = Case(
        kind="wheel", target=Rid("linux-x64"), consumer="python3.11", runtime="r", version="1", scenario="works"
    )
    artifact = Artifact(path=Path("dist/x.whl"), kind="wheel", sha256=Sha256(HASH), size=1)
    outcome = Outcome(case=case, state=State.FAILED, reason="bad \udce4", log="logs/x.log", facts={"passed": 2})
    original = report_of(SOURCE, [artifact], [outcome], {"target": "linux-x64"}, {case.id: 1.25})
    (tmp_path / "r.json").write_text(report_json(original), encoding="utf-8")
    read = read_report(tmp_path / "r.json")
    assert read.cases[0].case == case
    assert read.cases[0].started == 1.25
    assert read.source == SOURCE
    assert (read.packages, read.machines, read.cases[0].facts) == (original.packages, original.machines, {"passed": 2})


FEW = [case for case in EVERY.cases if case.outcome is not State.NOT_RUN or case.reason == "no-dotnet"]
SMALL = msgspec.structs.replace(EVERY, cases=tuple(FEW))  # the golden files need not know every reason


@pytest.mark.parametrize(
    ("name", "text"),
    [("verify.md", report_markdown(view_of(SMALL))), ("verify.xml", report_junit(view_of(SMALL)))],
    ids=["markdown", "junit"],
)
def test_renderings_are_as_they_were_reviewed(name, text):
    assert text == (GOLDEN / name).read_text("utf-8")


def test_not_run_is_a_state_of_its_own_in_every_rendering():
    last = report_count(EVERY)
    assert last.startswith(f"3 passed, 1 failed, {len(list_reasons())} not run (")
    for text in (report_text(view_of(EVERY)), report_markdown(view_of(EVERY)), report_junit(view_of(EVERY))):
        assert "not run: no-dotnet (there is no .NET SDK on this machine)" in text
    assert last.replace("3 passed", "3 passed (1 cached)") in report_text(view_of(EVERY))
    assert last in report_markdown(view_of(EVERY))


def test_what_passed_on_an_emulator_is_never_counted_as_passed():
    reported = report(row(), row("passed, emulated", target="win-x64"), row("glue passed", target="osx-arm64"))
    count = "1 passed, 1 passed emulated, 1 glue passed, 0 failed, 0 not run"
    markdown, page = report_markdown(view_of(reported)), report_html(view_of(reported), lambda _: "")
    assert report_count(reported) == count
    assert count in markdown
    assert count in page
    assert "✅ passed, ☑️ emulated, 🔘 glue passed" in markdown
    assert 'class="m s e"' in page
    assert 'class="m s g"' in page
    assert "emulated" not in report_markdown(view_of(report(row())))


def test_glue_alone_verifies_nothing():
    reported = report(row("glue passed"))
    assert reported.exit_status == 1
    assert "none of the machines runs the real runtime" in reported.problem


def test_a_junit_reader_counts_the_same():
    suites = ET.fromstring(report_junit(view_of(EVERY)))
    assert suites.get("tests") == str(len(EVERY.cases)) == str(len([*suites.iter("testcase")]))
    assert (suites.get("failures"), suites.get("skipped")) == ("1", str(len(list_reasons())))


@pytest.mark.parametrize("render", [report_text, report_markdown, report_junit, report_json])
def test_hostile_words_stay_words(render):
    hostile = report(row("failed", reason=HOSTILE, consumer="\x1b[31m[red]x\x00"))
    text = render(hostile if render is report_json else view_of(hostile))
    assert "\x1b" not in text
    assert "\x00" not in text
    if render is report_markdown:
        assert " <img" not in text
        assert "\\<img" in text
    if render is report_junit:
        assert ET.fromstring(text).find(".//failure") is not None


def test_a_job_summary_keeps_below_its_limit():
    scope = {f"test_{number}": "x" * 150 for number in range(3000)}
    cases = [row(version=f"1.{number}.0", facts={"out_of_scope": {**scope, str(number): ""}}) for number in range(9)]
    text = report_markdown(view_of(report(*cases)))
    assert len(text.encode()) < 1_000_000
    assert "sections left out: too long for a summary" in text
    assert text.startswith("## ✅ latebind verify\n\n9 passed")

    many = report(*(row(version=f"1.{number}.0", target=f"t{number}") for number in range(1500)), row("failed"))
    text = report_markdown(view_of(many))
    assert len(text.encode()) < 1_000_000
    assert "The matrix is too long for a summary." in text
    assert "### Failed" in text


def test_many_failures_are_counted_not_listed():
    text = report_markdown(view_of(report(*(row("failed", version=f"1.{number}.0") for number in range(60)))))
    assert "- and 10 more\n" in text


@pytest.mark.parametrize(
    ("reported", "why"),
    [
        ([row(), row("failed"), row("failed", version="1.30.0")], "2 test cases failed"),
        ([row(scenario="absent"), row("not run")], "could run: nothing here runs binaries of this target"),
        ([row(scenario="absent")], "no test case that loads the library was selected"),
        ([], "no test case was run"),
    ],
)
def test_every_form_says_why_the_exit_status_is_1(reported, why):
    failed = report(*reported)
    assert failed.exit_status == 1
    forms = [
        report_text(view_of(failed)),
        report_markdown(view_of(failed)),
        report_json(failed),
        report_html(view_of(failed), lambda _: ""),
    ]
    assert all(why in text for text in forms)
    *_, last = [line for line in forms[0].splitlines() if not line.startswith("help: ")]
    assert last.startswith("Verification failed: ")
    junit, cases = report_junit(view_of(failed)), [case for case in reported if case.outcome is State.FAILED]
    assert junit.count("<failure") == (len(cases) or 1)
    assert cases or why in junit


@pytest.mark.parametrize("reported", [[row()], [row(), row("not run", version="1.19.2")]])
def test_no_form_names_a_problem_where_there_is_none(reported):
    passed = report(*reported)
    assert passed.exit_status == 0
    assert json.loads(report_json(passed))["problem"] == ""
    forms = [report_text(view_of(passed)), report_markdown(view_of(passed)), report_html(view_of(passed), lambda _: "")]
    assert not [text for text in forms if "Verification failed" in text]
    assert "<failure" not in report_junit(view_of(passed))


def test_what_a_report_says_of_its_problem_is_not_believed(tmp_path):
    file = tmp_path / "verify.json"
    file.write_text(report_json(report(row("failed"))).replace("1 test case failed", ""), encoding="utf-8")
    assert read_report(file).problem == "1 test case failed"


def break_report(change):
    document = json.loads(report_json(report(row(), row(version="1.19.2"))))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not a verification report"),
        ("[]", "is not a verification report"),
        ('{"subjects": 0, "findings": [], "waived": [], "skipped": []}', "is not a verification report"),
        (break_report(lambda d: d["cases"][1].update(d["cases"][0])), "a test case occurs twice"),
        (break_report(lambda d: d["packages"].append(d["packages"][0])), "a package occurs twice"),
        (break_report(lambda d: d["cases"][0].update(target="win-x64")), "does not match its test case"),
        (break_report(lambda d: d["cases"][0].update(outcome="not run", reason="lazy")), "is not a known reason"),
        (break_report(lambda d: d["cases"][0].update(outcome="skipped")), "Invalid enum value"),
        (break_report(lambda d: d["cases"][0].update(machine=1)), "names a machine that does not exist"),
        (break_report(lambda d: d["cases"][0].update(log="/etc/passwd")), "is not in logs/"),
        (break_report(lambda d: d["cases"][0].update(log="logs/../../secret")), "is not in logs/"),
        (break_report(lambda d: d["cases"][0].update(log="logs\\x")), "is not in logs/"),
        (break_report(lambda d: d["cases"][0].update(more=1)), "unknown field"),
        (break_report(lambda d: d["cases"][0].update(seconds=-1)), "Expected `float` >= 0"),
        (break_report(lambda d: d["cases"][0].update(started=1e300)), "Expected `float` <= 1000000000"),
        (break_report(lambda d: d["machines"][0].update(share="6/5")), "6/5 is not a share"),
    ],
)
def test_what_is_no_report_of_ours_is_refused_with_its_place(tmp_path, text, message):
    file = tmp_path / "verify.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message) as caught:
        read_report(file)
    assert str(file) in str(caught.value)
    assert "Run latebind verify, or give a verify.json that it wrote." in str(caught.value)


def test_files_are_written_with_the_logs_and_earlier_logs_go(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "old.log").write_text("old", encoding="utf-8")
    (tmp_path / "verify.json").touch()
    shown = report(row(), row("not run", version="1.19.2"))
    write_reports(shown, tmp_path, lambda _: "the log")
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"verify.json", "verify.md", "verify.xml", "verify.html", shown.cases[0].log}
    assert read_log(tmp_path, shown.cases[0]) == "the log"
    assert "the log" in (tmp_path / "verify.html").read_text("utf-8")


def test_the_logs_of_something_else_stay(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "other.log").write_text("other", encoding="utf-8")
    write_reports(report(row()), tmp_path, lambda _: "the log")
    assert (tmp_path / "logs" / "other.log").read_text("utf-8") == "other"


def test_no_link_leads_out_of_a_report(tmp_path):
    (tmp_path / "report" / "logs").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    shown = row()
    (tmp_path / "report" / shown.log).symlink_to(tmp_path / "secret")
    assert read_log(tmp_path / "report", shown) == ""

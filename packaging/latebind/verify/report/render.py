"""Renders a verification report as Markdown and as JUnit XML."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # written here, never parsed

from latebind.model import State
from latebind.verify.report.grid import groups, machine_name, runtime, source_line, synopsis, words
from latebind.verify.report.report import describe_new_runtimes
from loadcheck.text import markdown_code, markdown_text, plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from latebind.verify.report.grid import Grid
    from latebind.verify.report.report import CaseResult, Report

MARKS = {State.PASSED: "✓", State.EMULATED: "≈", State.GLUE: "○", State.FAILED: "✗", State.NOT_RUN: "–"}
_SIGNS = {State.PASSED: "✅", State.EMULATED: "☑️", State.GLUE: "🔘", State.FAILED: "❌", State.NOT_RUN: "➖"}
_LONGEST, _SENTENCE = 1500, 200
_FAILURES = 50
_SUMMARY_BYTES = 1_000_000
"""GitHub shows no job summary over 1 MiB (docs.github.com, "Workflow commands", "Step isolation and limits")."""


def report_count(report: Report) -> str:
    """How many test cases ended in each state, and why some were not run."""
    states = Counter(result.outcome for result in report.cases)
    emulated = f"{states[State.EMULATED]} passed emulated, " if states[State.EMULATED] else ""
    glue = f"{states[State.GLUE]} glue passed, " if states[State.GLUE] else ""
    text = f"{states[State.PASSED]} passed, {emulated}{glue}{states[State.FAILED]} failed, "
    text += f"{states[State.NOT_RUN]} not run"
    reasons = Counter(result.reason for result in report.cases if result.outcome is State.NOT_RUN)
    if reasons:
        text += " (" + ", ".join(f"{reason}: {number}" for reason, number in sorted(reasons.items())) + ")"
    return text


def report_markdown(report: Report) -> str:
    """For a job's summary: totals, what failed and why, the matrix; the rest folded, and left out when too long."""
    source = source_line(report)
    title = f"latebind verify: {markdown_text(source, _SENTENCE)}" if source else "latebind verify"
    heading = [f"## {'❌' if report.problem else '✅'} {title}", "", f"{report_count(report)}."]
    if report.problem:
        heading += ["", f"Verification failed: {markdown_text(report.problem, _LONGEST)}."]
    heading += [line for text in describe_new_runtimes(report) for line in ("", markdown_text(text, _SENTENCE))]
    lines = [*heading, *_failures(report), *_legend(report)]
    for group in groups(report):
        for grid in group.grids:
            title = markdown_text(f"{group.kind}, {group.consumer}: {grid.title}", _SENTENCE)
            lines += ["", f"### {title}", "", *_table(grid)]
    document, omitted = "\n".join(lines) + "\n", 0
    for block in (_packages(report), _cases(report), *_out_of_scope(report)):
        text = "\n".join(["", *block]) + "\n"
        if len((document + text).encode()) < _SUMMARY_BYTES:
            document += text
        else:
            omitted += 1
    if len(document.encode()) >= _SUMMARY_BYTES:  # some thousands of targets and versions: the totals and the failures
        return "\n".join([*heading, *_failures(report)]) + "\n\nThe matrix is too long for a summary.\n"
    return document + (
        f"\n{plural(omitted, 'section')} left out: too long for a summary; see the report.\n" if omitted else ""
    )


def report_junit(report: Report) -> str:
    """A suite for each package kind, target and consumer, with a case for each test case.

    When the verification failed without a failed test case, one more case fails: JUnit has no other place for that.
    """
    root = ET.Element("testsuites", name="latebind verify")
    suites: dict[str, list[CaseResult]] = {}
    for result in report.cases:
        suites.setdefault(f"{result.kind} {result.target} {result.consumer}", []).append(result)
    for name, results in suites.items():
        hosts = dict.fromkeys(machine_name(report, result.machine) for result in results)
        suite = ET.SubElement(root, "testsuite", name=printable(name), hostname=printable("; ".join(hosts)))
        for result in results:
            _case(suite, report, result)
    if report.problem and not any(result.outcome is State.FAILED for result in report.cases):
        suite = ET.SubElement(root, "testsuite", name="verification")
        case = ET.SubElement(suite, "testcase", classname="latebind.verify", name="the verification as a whole")
        ET.SubElement(case, "failure", type="failed", message=printable(report.problem))
    for element in (*root, root):
        cases = [*element.iter("testcase")]
        element.set("tests", str(len(cases)))
        element.set("failures", str(len([*element.iter("failure")])))
        element.set("errors", "0")
        element.set("skipped", str(len([*element.iter("skipped")])))
        element.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.2f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(suite: ET.Element, report: Report, result: CaseResult) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=printable(f"latebind.verify.{result.kind}.{result.target}.{result.consumer}"),
        name=printable(f"{result.scenario} with {runtime(result)}"),
        time=f"{result.seconds:.2f}",
    )
    text = printable(words(report, result))
    if result.outcome is State.FAILED:
        failure = ET.SubElement(case, "failure", type="failed", message=synopsis(text.replace("\n", " ")))
        failure.text = f"{text}\nlog: {printable(result.log)}"
    elif result.outcome is State.NOT_RUN:
        ET.SubElement(case, "skipped", message=text)
    else:
        ET.SubElement(case, "system-out").text = text


def _failures(report: Report) -> Iterator[str]:
    failed = [result for result in report.cases if result.outcome is State.FAILED]
    if failed:
        yield from ("", "### Failed", "")
        yield from (
            f"- {markdown_code(result.id)}: {markdown_text(words(report, result), _LONGEST)}"
            for result in failed[:_FAILURES]
        )
    if len(failed) > _FAILURES:
        yield f"- and {len(failed) - _FAILURES} more"


def _legend(report: Report) -> Iterator[str]:
    """What the signs mean, where some test cases prove less than that the package works on its system."""
    lesser = {result.outcome for result in report.cases} & {State.EMULATED, State.GLUE}
    if lesser:
        yield from ("", ", ".join(f"{sign} {state.value}" for state, sign in _SIGNS.items()).replace("passed, e", "e"))


def _table(grid: Grid) -> Iterator[str]:
    yield f"| target | {' | '.join(markdown_text(name, _SENTENCE) for name in grid.columns)} |"
    yield f"|---|{':-:|' * len(grid.columns)}"
    for target, cases in grid.rows:
        marks = (" ".join(_SIGNS[result.outcome] for result in results) for results in cases)
        yield f"| {markdown_text(target, _SENTENCE)} | {' | '.join(marks)} |"


def _cases(report: Report) -> Iterator[str]:
    yield from ("<details><summary>Every test case</summary>", "", "| | test case | result | s |", "|---|---|---|---|")
    for result in report.cases:
        text = markdown_text(words(report, result), _SENTENCE)
        yield f"| {MARKS[result.outcome]} | {markdown_code(result.id)} | {text} | {result.seconds:.1f} |"
    yield from ("", "</details>")


def _packages(report: Report) -> Iterator[str]:
    yield from ("<details><summary>Packages and machines</summary>", "", "| package | sha256 |", "|---|---|")
    yield from (f"| {markdown_code(package.file)} | `{package.sha256}` |" for package in report.packages)
    yield ""
    for index, machine in enumerate(report.machines):
        facts = ", ".join(f"{key} {value}" for key, value in machine.items() if key != "target")
        yield f"- {markdown_text(machine_name(report, index), _SENTENCE)}: {markdown_text(facts, _LONGEST)}"
    yield from ("", "</details>")


def _out_of_scope(report: Report) -> Iterator[list[str]]:
    """Cases that a consumer leaves out on purpose; equal lists once."""
    seen: list[object] = []
    for result in report.cases:
        names = result.facts.get("out_of_scope")
        if isinstance(names, dict) and names and names not in seen:
            seen.append(names)
            title = markdown_text(f"Out of scope for {result.id}: {plural(len(names), 'case')}", _SENTENCE)
            lines = [
                f"- {markdown_code(str(name))}: {markdown_text(str(why), _SENTENCE)}" for name, why in names.items()
            ]
            yield [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]

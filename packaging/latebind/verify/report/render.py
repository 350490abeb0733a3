"""Renders a verification report as Markdown and as JUnit XML."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as ET  # written here, never parsed

from latebind.model import State
from latebind.verify.report.view import MARKS, Grid, Row, View, synopsis
from loadcheck.text import markdown_code, markdown_text, plural

_SIGNS = {State.PASSED: "✅", State.EMULATED: "☑️", State.GLUE: "🔘", State.FAILED: "❌", State.NOT_RUN: "➖"}
_LONGEST, _SENTENCE = 1500, 200
_FAILURES = 50
_SUMMARY_BYTES = 1_000_000
"""GitHub shows no job summary over 1 MiB (docs.github.com, "Workflow commands", "Step isolation and limits")."""


def report_markdown(view: View) -> str:
    """For a job's summary: totals, what failed and why, the matrix; the rest folded, and left out when too long."""
    title = f"latebind verify: {markdown_text(view.source, _SENTENCE)}" if view.source else "latebind verify"
    heading = [f"## {'❌' if view.problem else '✅'} {title}", "", f"{view.count}."]
    if view.problem:
        heading += ["", f"Verification failed: {markdown_text(view.problem, _LONGEST)}."]
    heading += [line for text in view.news for line in ("", markdown_text(text, _SENTENCE))]
    lines = [*heading, *_failures(view), *_lacks(view), *_legend(view)]
    for group in view.groups:
        for grid in group.grids:
            title = markdown_text(f"{group.kind}, {group.consumer}: {grid.title}", _SENTENCE)
            lines += ["", f"### {title}", "", *_table(grid)]
    document, omitted = "\n".join(lines) + "\n", 0
    for block in (_packages(view), _cases(view), *_out_of_scope(view)):
        text = "\n".join(["", *block]) + "\n"
        if len((document + text).encode()) < _SUMMARY_BYTES:
            document += text
        else:
            omitted += 1
    if len(document.encode()) >= _SUMMARY_BYTES:  # some thousands of targets and versions: the totals and the failures
        return "\n".join([*heading, *_failures(view)]) + "\n\nThe matrix is too long for a summary.\n"
    return document + (
        f"\n{plural(omitted, 'section')} left out: too long for a summary; see the report.\n" if omitted else ""
    )


def report_junit(view: View) -> str:
    """A suite for each package kind, target and consumer, with a case for each test case.

    When the verification failed without a failed test case, one more case fails: JUnit has no other place for that.
    """
    root = ET.Element("testsuites", name="latebind verify")
    suites: dict[str, list[Row]] = {}
    for row in view.rows:
        suites.setdefault(f"{row.shown.kind} {row.shown.target} {row.shown.consumer}", []).append(row)
    for name, rows in suites.items():
        hosts = dict.fromkeys(row.machine for row in rows)
        suite = ET.SubElement(root, "testsuite", name=name, hostname="; ".join(hosts))
        for row in rows:
            _case(suite, row)
    if view.problem and not view.with_state(State.FAILED):
        suite = ET.SubElement(root, "testsuite", name="verification")
        case = ET.SubElement(suite, "testcase", classname="latebind.verify", name="the verification as a whole")
        ET.SubElement(case, "failure", type="failed", message=view.problem)
    for element in (*root, root):
        cases = [*element.iter("testcase")]
        element.set("tests", str(len(cases)))
        element.set("failures", str(len([*element.iter("failure")])))
        element.set("errors", "0")
        element.set("skipped", str(len([*element.iter("skipped")])))
        element.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.2f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _case(suite: ET.Element, row: Row) -> None:
    shown = row.shown
    case = ET.SubElement(
        suite,
        "testcase",
        classname=f"latebind.verify.{shown.kind}.{shown.target}.{shown.consumer}",
        name=f"{shown.scenario} with {row.runtime}",
        time=f"{shown.seconds:.2f}",
    )
    if shown.outcome is State.FAILED:
        failure = ET.SubElement(case, "failure", type="failed", message=synopsis(row.words.replace("\n", " ")))
        failure.text = f"{row.words}\nlog: {shown.log}"
    elif shown.outcome is State.NOT_RUN:
        ET.SubElement(case, "skipped", message=row.words)
    else:
        ET.SubElement(case, "system-out").text = row.words


def _failures(view: View) -> Iterator[str]:
    failed = view.with_state(State.FAILED)
    if failed:
        yield from ("", "### Failed", "")
        yield from (
            f"- {markdown_code(row.shown.id)}: {markdown_text(row.words, _LONGEST)}" for row in failed[:_FAILURES]
        )
    if len(failed) > _FAILURES:
        yield f"- and {len(failed) - _FAILURES} more"


def _lacks(view: View) -> Iterator[str]:
    if view.lacks:
        yield from ("", "### What would run the others", "")
        yield from (f"- {markdown_text(lack, _SENTENCE)}" for lack in view.lacks)


def _legend(view: View) -> Iterator[str]:
    """What the signs mean, where some test cases prove less than that the package works on its system."""
    lesser = {row.result.outcome for row in view.rows} & {State.EMULATED, State.GLUE}
    if lesser:
        yield from ("", ", ".join(f"{sign} {state.value}" for state, sign in _SIGNS.items()).replace("passed, e", "e"))


def _table(grid: Grid) -> Iterator[str]:
    yield f"| target | {' | '.join(markdown_text(name, _SENTENCE) for name in grid.columns)} |"
    yield f"|---|{':-:|' * len(grid.columns)}"
    for target, cases in grid.rows:
        marks = (" ".join(_SIGNS[row.result.outcome] for row in rows) for rows in cases)
        yield f"| {markdown_text(target, _SENTENCE)} | {' | '.join(marks)} |"


def _cases(view: View) -> Iterator[str]:
    yield from ("<details><summary>Every test case</summary>", "", "| | test case | result | s |", "|---|---|---|---|")
    for row in view.rows:
        mark, text = MARKS[row.result.outcome], markdown_text(row.words, _SENTENCE)
        yield f"| {mark} | {markdown_code(row.shown.id)} | {text} | {row.result.seconds:.1f} |"
    yield from ("", "</details>")


def _packages(view: View) -> Iterator[str]:
    yield from ("<details><summary>Packages and machines</summary>", "", "| package | sha256 |", "|---|---|")
    yield from (f"| {markdown_code(file)} | `{sha256}` |" for file, sha256 in view.packages)
    yield ""
    for name, machine in view.machines:
        facts = ", ".join(f"{key} {value}" for key, value in machine.items() if key != "target")
        yield f"- {markdown_text(name, _SENTENCE)}: {markdown_text(facts, _LONGEST)}"
    yield from ("", "</details>")


def _out_of_scope(view: View) -> Iterator[list[str]]:
    """Cases that a consumer leaves out on purpose; equal lists once."""
    seen: list[object] = []
    for row in view.rows:
        names = row.result.facts.get("out_of_scope")
        if isinstance(names, dict) and names and names not in seen:
            seen.append(names)
            title = markdown_text(f"Out of scope for {row.shown.id}: {plural(len(names), 'case')}", _SENTENCE)
            lines = [
                f"- {markdown_code(str(name))}: {markdown_text(str(why), _SENTENCE)}" for name, why in names.items()
            ]
            yield [f"<details><summary>{title}</summary>", "", *lines, "", "</details>"]

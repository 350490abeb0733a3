"""Renders a verification report for a terminal, and as its files; `page.py` renders the HTML."""

from __future__ import annotations

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET  # written here, never parsed

from latebind.backend.files import write_text
from latebind.errors import InputError
from latebind.model import State
from latebind.system.log import LOG
from latebind.text import DOCS, decisive_line, markdown_code, markdown_text, plural, shorten
from latebind.verify.report.data import REPORT, LogReader, Report, read_report, report_json
from latebind.verify.report.page import report_html
from latebind.verify.report.view import LOOKS, Grid, Row, View, synopsis, view_of

_LONGEST, _SENTENCE = 1500, 200
_SHOWN, _LISTED = 5, 50
"""How many test cases with one cause a terminal shows and Markdown of a change, and how many failures it lists."""
_SUMMARY_BYTES = 1_000_000
"""GitHub shows no job summary over 1 MiB (docs.github.com, "Workflow commands", "Step isolation and limits")."""
_DRAWN = 15
_GANTT = ("    title seconds", "    dateFormat x", "    axisFormat %s", "    todayMarker off")
"""Milliseconds are drawn as seconds: minutes would be in the reader's time zone."""
_NOT_NAME = re.compile(r"[^\w./+-]")
"""What Mermaid may take for its own syntax."""
_EXCEPTION = re.compile(r"[\w.]*(?:Error|Exception|Warning|Exit|Interrupt)\b")
_ORDER = (State.PASSED, State.EMULATED, State.GLUE, State.NOT_RUN, State.FAILED)
"""What matters most is next to the prompt."""
_ADVICE = {
    "no-index": "Check the network, unset UV_OFFLINE, or set UV_DEFAULT_INDEX to a mirror. For packages that "
    "uv has cached, none of this is necessary.",
    "no-machine": "Verify on a machine of that target, in CI (latebind ci), from a kit (latebind verify --kit DIR) or "
    f"on an emulator: {DOCS}/verify.md#machines",
}
"""What to do next, by the reason for which test cases were not run."""


def write_reports(report: Report, folder: Path, log_of: LogReader) -> tuple[View, Mapping[str, str]]:
    """Write verify.json, .md, .xml and .html into a folder, and the logs into its logs/. What they show; their texts.

    They say what changed since the earlier report there, whose logs are removed. In a folder without one, logs/ is
    another program's.
    """
    logs = {result.log: log_of(result) for result in report.cases if result.log}
    if (folder / REPORT).is_file():
        shutil.rmtree(folder / "logs", ignore_errors=True)
    view = view_of(report, _read_earlier(folder / REPORT))
    texts = {REPORT: report_json(report), **renderings(view, lambda result: logs.get(result.log, ""))}
    for name, text in (*logs.items(), *texts.items()):
        write_text(folder / name, text)
    return view, texts


def _read_earlier(file: Path) -> Report | None:
    """An earlier report; None for no file, a damaged one, and one that another version of latebind wrote."""
    try:
        return read_report(file)
    except InputError:
        return None


def renderings(view: View, log_of: LogReader) -> dict[str, str]:
    """The texts of a report for readers, by file name."""
    return {
        "verify.md": report_markdown(view),
        "verify.xml": report_junit(view),
        "verify.html": report_html(view, log_of),
    }


def report_text(view: View, folder: Path | None = None) -> str:
    """What failed and what was not run, by cause, and the count.

    `folder` is where the report's files are. Test cases that passed are listed with `--verbose`: others have been
    shown when they ended.
    """
    shown = ["\n".join((f"{LOOKS[state].mark} {first}", *more)) for state, (first, *more) in _paragraphs(view, folder)]
    place = f". Report: {show_path(folder / 'verify.html')}" if folder else ""
    cached = sum(row.result.cached for row in view.rows)
    count = view.count.replace(" passed", f" passed ({cached} cached)" if cached else " passed", 1)
    lacks = ["What would run the others:", *(f"  {lack}" for lack in view.lacks)] if view.lacks else []
    changes = [f"Since the last run: {view.changes.summary}"] if view.changes and view.changes.ids else []
    text = "\n".join([*shown, *lacks, f"{count}{place}", *changes, *view.news])
    reasons = {row.result.reason for row in view.with_state(State.NOT_RUN)}
    advice = "".join(f"\nhelp: {_ADVICE[reason]}" for reason in sorted(reasons & _ADVICE.keys()))
    return f"{text}\nVerification failed: {view.problem}.{advice}" if view.problem else text


def _paragraphs(view: View, folder: Path | None) -> Iterator[tuple[State, list[str]]]:
    causes: dict[tuple[State, str], list[Row]] = defaultdict(list)
    for row in view.rows:
        own_words = (row.shown.id.replace("/", "_"), row.shown.version)
        text = _find_cause(row)
        for word in filter(None, own_words):
            text = text.replace(word, "")
        causes[row.shown.outcome, text].append(row)
    for state in _ORDER:
        for (outcome, _), rows in causes.items():
            if outcome is state and state.is_pass:
                yield from ((state, [_describe_pass(row)]) for row in rows if LOG.level == "verbose")
            elif outcome is state:
                yield state, [_find_cause(rows[0]), *_list_details(rows, folder)]


def _find_cause(row: Row) -> str:
    """What ended a test case, in a line: of a failure, its headline or the exception that it does not name."""
    if row.shown.outcome.is_pass:
        return ""
    first, decisive = row.words.partition("\n")[0], decisive_line(row.words)
    is_exception = _EXCEPTION.match(decisive) is not None and decisive not in first
    return decisive if row.shown.outcome is State.FAILED and is_exception else first


def _describe_pass(row: Row) -> str:
    seconds = "cached" if row.shown.cached else f"{row.shown.seconds:.1f} s"
    return f"{row.shown.id}  {synopsis(row.words, _SENTENCE)}  {seconds}"


def _list_details(rows: Sequence[Row], folder: Path | None) -> Iterator[str]:
    """What one of the test cases says, their ids, and a log."""
    row, first = rows[0], rows[0].shown
    lines = shorten(row.words, _LONGEST).splitlines()
    yield from (f"    {line}" for line in lines if line != _find_cause(row))
    if first.outcome is State.NOT_RUN and (advice := first.summary.partition("\nhelp: ")[2]):
        yield f"    help: {advice}"
    yield from (f"  in {row.shown.id}" for row in rows[:_SHOWN])
    if len(rows) > _SHOWN:
        yield f"  and {plural(len(rows) - _SHOWN, 'more test case')}"
    if first.outcome is State.FAILED and first.log:
        yield f"  log: {show_path(folder / first.log) if folder else first.log}"


def show_path(path: Path) -> str:
    """A path as one would type it here."""
    try:
        return os.path.relpath(path) if path.resolve().is_relative_to(Path.cwd()) else str(path)
    except OSError:  # the current folder is gone
        return str(path)


def report_markdown(view: View) -> str:
    """For a job's summary: totals, what failed and why, the matrix; the rest folded, and left out when too long."""
    title = f"latebind verify: {markdown_text(view.source, _SENTENCE)}" if view.source else "latebind verify"
    heading = [f"## {'❌' if view.problem else '✅'} {title}", "", f"{view.count}."]
    if view.problem:
        heading += ["", f"Verification failed: {markdown_text(view.problem, _LONGEST)}."]
    heading += [line for text in view.news for line in ("", markdown_text(text, _SENTENCE))]
    lines = [*heading, *_failures(view), *_changes(view), *_lacks(view), *_legend(view)]
    for kind, consumer, grid in view.groups:
        lines += ["", f"### {markdown_text(f'{kind}, {consumer}', _SENTENCE)}", "", *_table(grid)]
    document, omitted = "\n".join(lines) + "\n", 0
    for block in (*_chart(view), _packages(view), _cases(view), *_out_of_scope(view)):
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


def _failures(view: View) -> Iterator[str]:
    failed = view.with_state(State.FAILED)
    if failed:
        yield from ("", "### Failed", "")
        yield from (
            f"- {markdown_code(row.shown.id)}: {markdown_text(row.words, _LONGEST)}" for row in failed[:_LISTED]
        )
    if len(failed) > _LISTED:
        yield f"- and {len(failed) - _LISTED} more"


def _changes(view: View) -> Iterator[str]:
    if view.changes:
        yield from ("", "### Since the last run", "")
        for kind, ids in view.changes.ids.items():
            more = f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
            yield f"- {len(ids):,} {kind}: {', '.join(map(markdown_code, ids[:_SHOWN]))}{more}"
        if not view.changes.ids:
            yield "Every test case ended as before."


def _lacks(view: View) -> Iterator[str]:
    if view.lacks:
        yield from ("", "### What would run the others", "")
        yield from (f"- {markdown_text(lack, _SENTENCE)}" for lack in view.lacks)


def _legend(view: View) -> Iterator[str]:
    """What the signs mean, where some test cases prove less than that the package works on its system."""
    lesser = {row.result.outcome for row in view.rows} & {State.EMULATED, State.GLUE}
    if lesser:
        meanings = (f"{look.sign} {state.value.removeprefix('passed, ')}" for state, look in LOOKS.items())
        yield from ("", ", ".join(meanings))


def _table(grid: Grid) -> Iterator[str]:
    yield f"| scenario | runtime | {' | '.join(markdown_text(name, _SENTENCE) for name in grid.targets)} |"
    yield f"|---|---|{':-:|' * len(grid.targets)}"
    for scenario, runtime, cells in grid.rows:
        signs = (" ".join(LOOKS[row.result.outcome].sign for row in rows) for rows in cells)
        names = (markdown_text(name, _SENTENCE) for name in (scenario, runtime))
        yield f"| {' | '.join((*names, *signs))} |"


def _cases(view: View) -> Iterator[str]:
    yield from ("<details><summary>Every test case</summary>", "", "| | test case | result | s |", "|---|---|---|---|")
    for row in view.rows:
        mark, text = LOOKS[row.result.outcome].mark, markdown_text(row.words, _SENTENCE)
        yield f"| {mark} | {markdown_code(row.shown.id)} | {text} | {row.result.seconds:.1f} |"
    yield from ("", "</details>")


def _chart(view: View) -> Iterator[list[str]]:
    """The critical path of the machine that took longest, which no table has. GitHub draws it with Mermaid."""
    for line in view.timelines[:1]:
        name = markdown_text(view.machines[line.machine][0], _SENTENCE)
        kept, rest = line.shorten(_DRAWN)
        lines = ["### What decided how long the run took", "", f"{name}: {line.summary}. {line.meaning}", ""]
        lines += ["```mermaid", "gantt", *_GANTT]
        for result in kept:
            begin = round(1000 * (result.started or 0))
            lines.append(f"    {_NOT_NAME.sub('_', result.id)} : {begin}, {begin + round(1000 * result.seconds)}")
        yield [*lines, "```", *(["", rest] if rest else [])]


def _packages(view: View) -> Iterator[str]:
    yield from ("<details><summary>Packages and machines</summary>", "", "| package | sha256 |", "|---|---|")
    yield from (f"| {markdown_code(package.file)} | `{package.sha256}` |" for package in view.report.packages)
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
            _add_case(suite, row)
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


def _add_case(suite: ET.Element, row: Row) -> None:
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

"""Renders a verification report for a terminal, and as the files Markdown, JUnit XML and HTML.

In the HTML page everything is untrusted: the template escapes names, logs and facts are JSON that cannot end its
element, and the page's policy only allows its own script. It needs no network and no other file.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET  # written here, never parsed

from latebind.backend.files import write_text
from latebind.model import State
from latebind.system.log import LOG
from latebind.system.resources import folder as resource_folder
from latebind.templates import render
from latebind.text import DOCS, decisive_line, markdown_code, markdown_text, plural, printable_lines, shorten
from latebind.verify.report.data import REPORT, LogReader, Report, report_json
from latebind.verify.report.view import MARKS, Grid, Row, View, synopsis, view_of


class _Look(NamedTuple):
    """How a state looks: its color in a terminal, its sign in Markdown, and its class in HTML."""

    color: str
    sign: str
    style: str


_LOOKS = {
    State.PASSED: _Look("green", "✅", "p"),
    State.EMULATED: _Look("green", "☑️", "e"),
    State.GLUE: _Look("cyan", "🔘", "g"),
    State.FAILED: _Look("bold red", "❌", "f"),
    State.NOT_RUN: _Look("yellow", "➖", "n"),
}
_LONGEST, _SENTENCE = 1500, 200
_SHOWN, _LISTED, _LINKED = 5, 50, 20
"""How many test cases with one cause a terminal shows, and how many failures Markdown and HTML list."""
_SUMMARY_BYTES = 1_000_000
"""GitHub shows no job summary over 1 MiB (docs.github.com, "Workflow commands", "Step isolation and limits")."""
LOG_LIMITS: Mapping[State, int] = {**dict.fromkeys(State, 4_000), State.FAILED: 40_000}
"""Characters of a log that the page holds, so that a phone can open a page of 500 of them. The files have the rest."""
_FACTS = 4_000
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

    The logs of an earlier report there are removed. In a folder without one, logs/ is another program's.
    """
    logs = {result.log: log_of(result) for result in report.cases if result.log}
    if (folder / REPORT).is_file():
        shutil.rmtree(folder / "logs", ignore_errors=True)
    view = view_of(report)
    texts = {REPORT: report_json(report), **renderings(view, lambda result: logs.get(result.log, ""))}
    for name, text in (*logs.items(), *texts.items()):
        write_text(folder / name, text)
    return view, texts


def renderings(view: View, log_of: LogReader) -> dict[str, str]:
    """The texts of a report for readers, by file name."""
    return {
        "verify.md": report_markdown(view),
        "verify.xml": report_junit(view),
        "verify.html": report_html(view, log_of),
    }


def report_text(view: View, folder: Path | None = None) -> str:
    """What failed and what was not run, by cause, and the count; in color where the terminal and NO_COLOR allow it.

    `folder` is where the report's files are. Test cases that passed are listed with `--verbose`: others have been
    shown when they ended.
    """
    from rich.console import Console  # noqa: PLC0415  # slow to import, and only this needs it
    from rich.text import Text  # noqa: PLC0415

    buffer = io.StringIO()
    console = Console(file=buffer, soft_wrap=True, highlight=False, force_terminal=Console().is_terminal)
    for state, lines in _paragraphs(view, folder):
        mark = Text(MARKS[state], style=_LOOKS[state].color)
        console.print(Text.assemble(mark, " ", "\n".join(lines)))
    place = f". Report: {_show_path(folder / 'verify.html')}" if folder else ""
    cached = sum(row.result.cached for row in view.rows)
    count = view.count.replace(" passed", f" passed ({cached} cached)" if cached else " passed", 1)
    lacks = ["What would run the others:", *(f"  {lack}" for lack in view.lacks)] if view.lacks else []
    text = buffer.getvalue() + "\n".join([*lacks, f"{count}{place}", *view.news])
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
        yield f"  log: {_show_path(folder / first.log) if folder else first.log}"


def _show_path(path: Path) -> str:
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
    lines = [*heading, *_failures(view), *_lacks(view), *_legend(view)]
    for kind, consumer, grids in view.groups:
        for grid in grids:
            title = markdown_text(f"{kind}, {consumer}: {grid.title}", _SENTENCE)
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


def _failures(view: View) -> Iterator[str]:
    failed = view.with_state(State.FAILED)
    if failed:
        yield from ("", "### Failed", "")
        yield from (
            f"- {markdown_code(row.shown.id)}: {markdown_text(row.words, _LONGEST)}" for row in failed[:_LISTED]
        )
    if len(failed) > _LISTED:
        yield f"- and {len(failed) - _LISTED} more"


def _lacks(view: View) -> Iterator[str]:
    if view.lacks:
        yield from ("", "### What would run the others", "")
        yield from (f"- {markdown_text(lack, _SENTENCE)}" for lack in view.lacks)


def _legend(view: View) -> Iterator[str]:
    """What the signs mean, where some test cases prove less than that the package works on its system."""
    lesser = {row.result.outcome for row in view.rows} & {State.EMULATED, State.GLUE}
    if lesser:
        meanings = (f"{look.sign} {state.value.removeprefix('passed, ')}" for state, look in _LOOKS.items())
        yield from ("", ", ".join(meanings))


def _table(grid: Grid) -> Iterator[str]:
    yield f"| target | {' | '.join(markdown_text(name, _SENTENCE) for name in grid.columns)} |"
    yield f"|---|{':-:|' * len(grid.columns)}"
    for target, cases in grid.rows:
        marks = (" ".join(_LOOKS[row.result.outcome].sign for row in rows) for rows in cases)
        yield f"| {markdown_text(target, _SENTENCE)} | {' | '.join(marks)} |"


def _cases(view: View) -> Iterator[str]:
    yield from ("<details><summary>Every test case</summary>", "", "| | test case | result | s |", "|---|---|---|---|")
    for row in view.rows:
        mark, text = MARKS[row.result.outcome], markdown_text(row.words, _SENTENCE)
        yield f"| {mark} | {markdown_code(row.shown.id)} | {text} | {row.result.seconds:.1f} |"
    yield from ("", "</details>")


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


def report_html(view: View, log_of: LogReader) -> str:
    """The page. `log_of` gives the text of a test case's log, "" for none."""
    script = (resource_folder("templates") / "verify.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(f"\n{script}".encode()).digest()).decode()
    states = Counter(row.result.outcome for row in view.rows)
    numbers = {id(row): index for index, row in enumerate(view.rows)}
    failed = view.with_state(State.FAILED)
    return render(
        "verify.html.j2",
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
        verdict="failed" if failed else "proves nothing" if view.problem else "passed",
        view=view,
        states=[
            (state.value, _LOOKS[state].style, states[state])
            for state in State
            if states[state] or state not in {State.EMULATED, State.GLUE}
        ],
        failed=failed[:_LINKED],
        failed_more=max(0, len(failed) - _LINKED),
        number=lambda row: numbers[id(row)],
        style=lambda row: _LOOKS[row.result.outcome].style,
        plural=plural,
        data=_script_data(view.rows, log_of),
    )


def clip(text: str, limit: int) -> str:
    """A log with its beginning and more of its end, and how much was left out between them."""
    if len(text) <= limit:
        return text
    head = limit // 4
    omitted = len(text) - limit
    return f"{text[:head]}\n\n… {plural(omitted, 'character')} left out …\n\n{text[-(limit - head) :]}"


def _script_data(rows: Sequence[Row], log_of: LogReader) -> str:
    """The details of all test cases as JSON that is safe inside a script element.

    Only `<` could end the element or begin a comment in it (HTML, "Restrictions for contents of script elements").
    """
    text = json.dumps([_describe_case(row, log_of(row.result)) for row in rows], ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _describe_case(row: Row, log: str) -> dict[str, Any]:
    shown = row.shown
    facts = {
        "package": shown.kind,
        "target": shown.target,
        "consumer": shown.consumer,
        "runtime": row.runtime,
        "scenario": shown.scenario,
        "took": f"{shown.seconds:.1f} s{', remembered from an earlier run' if shown.cached else ''}",
        "machine": row.machine,
        **{key: _fact(value) for key, value in shown.facts.items()},
    }
    return {
        "id": shown.id,
        "state": shown.outcome.value,
        "style": _LOOKS[shown.outcome].style,
        "words": row.words,
        "facts": [[key.replace("_", " "), value] for key, value in facts.items() if value],
        "file": shown.log,
        "log": printable_lines(clip(log, LOG_LIMITS[shown.outcome])),
    }


def _fact(value: object) -> str:
    """A number or text as it is; a table or list with its length."""
    if isinstance(value, dict):
        value = [f"{name}: {text}" for name, text in value.items()]
    if isinstance(value, list):
        return clip("\n".join([f"{len(value)}:", *map(str, value)]), _FACTS) if value else ""
    return str(value)

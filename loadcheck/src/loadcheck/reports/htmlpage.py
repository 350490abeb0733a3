"""Renders an audit report as one HTML page that needs no network: findings by cause, and a drawing of what loads what.

The page says all of it without its script, too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby
from typing import TYPE_CHECKING

from loadcheck import __version__
from loadcheck.engine.catalog import checks
from loadcheck.engine.cause import package_of, sections
from loadcheck.engine.wording import assumption_line, count_line, join_names, others, place, unread_line
from loadcheck.model import PASSED_OVER, SEVERITIES
from loadcheck.reports.console import shared_texts
from loadcheck.reports.graph import draw_graph, number_copies
from loadcheck.reports.markup import element, folded, listed, render_document
from loadcheck.reports.needstable import count_missing, needs_tables
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from xml.etree.ElementTree import Element

    from loadcheck.engine.cause import Cause
    from loadcheck.model import AuditReport, Copy, Finding, Severity
    from loadcheck.reports.graph import Graph

_STYLES = {"error": "f", "warning": "w", "note": "n"}
_SHAPES = {
    "f": "M2 2h20v20H2z M7 7l10 10 M17 7L7 17",
    "w": "M12 2.5L22.5 21.500H1.500z M12 9.500v5.500 M12 18v.5",
    "n": "M12 2a10 10 0 1 0 .01 0z M12 11v6 M12 7v.5",
    "p": "M12 2a10 10 0 1 0 .01 0z M7 12.500l3.500 3.500 6.500-7.500",
}
"""Each severity has a shape, too: not everybody tells the colors apart."""
_LEGEND = (
    ("file", "library or module"),
    ("asks", "asks for, and finds"),
    ("system", "from the system"),
    ("missing", "missing"),
    ("unread", "from a requirement that was not read"),
    ("unjudged", "not judged"),
    ("requirement", "from a requirement"),
    ("copy", "copy that works only once in a process"),
)
_LONGEST_LIST = 40


def audit_html(report: AuditReport) -> str:
    """The page."""
    verdict = "failed" if report.exit_status else "passed"
    counts = count_line(report)
    graph = draw_graph(report)
    body = element(
        "body",
        _header(report, verdict, counts),
        element("main", _tools(report), *_findings(report), _loads(report, graph), *_rest(report)),
        _footer(report),
        element("div", id="tip", hidden="", aria_hidden="true"),
    )
    return render_document(f"{verdict}: {counts} – loadcheck", body, _describe_graph(graph))


def _header(report: AuditReport, verdict: str, counts: str) -> Element:
    style = "f" if report.exit_status else "p"
    bar = [
        element("span", class_=_STYLES[severity], style=f"flex-grow:{count}")
        for severity, count in _count(report).items()
        if count
    ]
    return element(
        "header",
        element("h1", _shape(style), f"Audit {verdict}", class_="verdict"),
        element("p", f"{counts}.", class_="source"),
        *(element("p", f"{line}.", class_="soft") for line in unread_line(report)),
        element("div", *bar, class_="bar", aria_hidden="true") if bar else None,
    )


def _count(report: AuditReport) -> dict[Severity, int]:
    counts = Counter(finding.severity for finding in report.findings)
    return {severity: counts[severity] for severity in SEVERITIES}


def _shape(style: str) -> Element:
    path = element("path", d=_SHAPES[style])
    return element("svg", path, viewBox="0 0 24 24", class_=f"shape {style}", aria_hidden="true")


def _tools(report: AuditReport) -> Element:
    """Which findings are shown; only the script shows it."""
    buttons = (
        element(
            "button",
            _shape(_STYLES[severity]),
            plural(count, severity),
            type="button",
            aria_pressed="true",
            data_severity=severity,
        )
        for severity, count in _count(report).items()
    )
    search = element(
        "input",
        id="search",
        type="search",
        placeholder="Filter: libgomp, LB107, torch",
        aria_label="Filter findings and libraries by words",
        autocomplete="off",
        spellcheck="false",
    )
    status = element("output", id="shown", aria_live="polite")
    return element("div", *buttons, search, status, class_="tools", role="group", aria_label="What is shown", hidden="")


def _findings(report: AuditReport) -> Iterator[Element]:
    """A section for each package that has findings, errors first."""
    by_package = sections(report)
    for package, package_causes in by_package.items():
        title = f"Findings in {package}" if len(report.packages) > 1 else "Findings"
        loud = [cause for cause in package_causes if cause.severity != "note"]
        notes = [cause for cause in package_causes if cause.severity == "note"]
        yield element(
            "section",
            element("h2", title),
            *_checks(loud, report),
            folded(plural(len(notes), "note"), *_checks(notes, report)) if notes else None,
            class_="findings",
        )
    if not by_package:
        yield element("section", element("h2", "Findings"), element("p", "There are none.", class_="soft"))


def _checks(listed_causes: Sequence[Cause], report: AuditReport) -> Iterator[Element]:
    """The causes of one check that have one fix, together."""
    for _, group in groupby(listed_causes, key=lambda cause: (cause.severity, *shared_texts(cause.first))):
        several = list(group)
        finding = several[0].first
        style, check = _STYLES[finding.severity], checks().get(finding.code)
        yield element(
            "article",
            element("h3", _shape(style), f"{finding.severity} {finding.code}: {check.title if check else ''}"),
            *(_cause(cause, report) for cause in several),
            *(element("p", line) for line in assumption_line(finding)),
            element("p", element("strong", "Fix: "), finding.fix) if finding.fix else None,
            class_=f"check {style}",
        )


def _cause(cause: Cause, report: AuditReport) -> Element:
    where = place(cause.first.subject, report) or ("the package" if len(cause.subjects) > 1 else "")
    return element(
        "div",
        element("p", cause.first.message, class_="words"),
        element("p", f"in {where}{others(cause, report)}", class_="soft") if where else None,
        folded("Evidence", listed(_evidence(cause.findings, report))),
        class_="cause",
        data_severity=cause.severity,
    )


def _evidence(findings: Iterable[Finding], report: AuditReport) -> Iterator[Element]:
    """Each finding with what proves it."""
    for finding in findings:
        where = place(finding.subject, report) or package_of(finding.subject, report.packages)
        seen = listed(element("code", text) for text in finding.evidence) if finding.evidence else None
        yield element("div", f"{where}: {finding.message}", seen)


def _loads(report: AuditReport, graph: Graph) -> Element | None:
    """The drawing, and the same as tables."""
    if not report.needs:
        return None
    files = len({(need.owner, need.file) for need in report.needs})
    facts = f"Files that need libraries: {files:,}. Libraries that are missing: {count_missing(report.needs):,}."
    return element(
        "section",
        element("h2", "What loads what"),
        element("p", facts, class_="soft"),
        *_copies(report),
        element(
            "div",
            element("div", *(_key(name, text) for name, text in _LEGEND), class_="legend"),
            element(
                "div", id="graph", tabindex="0", role="region", aria_label="Drawing; the tables below say the same"
            ),
            _omitted(graph),
            id="drawing",
            hidden="",
        ),
        element("h3", "Each file, and who supplies what it asks for"),
        *needs_tables(report),
        class_="loads",
    )


def _omitted(graph: Graph) -> Element | None:
    """What is in the tables alone."""
    more = len(graph.omitted) - _LONGEST_LIST
    names = [
        *["what the system supplies"] * (not graph.has_system),
        *([plural(graph.files_omitted, "other file")] if graph.files_omitted else []),
        *graph.omitted[:_LONGEST_LIST],
        *([f"{more} more"] if more > 0 else []),
    ]
    return element("p", f"Not drawn, but in the tables: {join_names(names)}.", class_="soft") if names else None


def _key(name: str, text: str) -> Element:
    return element("span", element("i", class_=f"key {name}", aria_hidden="true"), text, class_="entry", data_key=name)


def _copies(report: AuditReport) -> Iterator[Element]:
    """What is in the environment more than once, and works only once in a process."""
    numbers = number_copies(report)
    families: dict[str, list[Copy]] = defaultdict(list)
    for copy in report.copies:
        families[copy.family].append(copy)
    for family, copies in families.items():
        count = len({copy.name for copy in copies})
        several = f"{family}: {count} copies in {len({copy.owner for copy in copies})} distributions"
        text = (
            several if count > 1 else f"{family}: several distributions have it by one name, so that one copy is loaded"
        )
        rows = sorted(f"{numbers[copy.owner, copy.file]}: {copy.owner}, {copy.file}" for copy in copies)
        yield element("div", element("p", element("strong", text)), listed(rows), class_="copies")


def _rest(report: AuditReport) -> Iterator[Element]:
    """What is undecided, accepted or skipped."""
    undecided = [f"{skip.subject}: {skip.reason}" for skip in report.undecided]
    waived = [
        f"{waived.finding.code} {waived.finding.subject}: {waived.finding.message}. Reason: {waived.reason}"
        for waived in report.waived
    ]
    known = [f"{finding.code} {finding.subject}: {finding.message}" for finding in report.known]
    passed_over = [f"{skip.subject}: {skip.reason}" for skip in report.skipped if skip.check == PASSED_OVER]
    lists = (
        ("Undecided", undecided),
        ("Waived", waived),
        ("Waivers that accept nothing", report.unused),
        ("In the baseline", known),
        ("In the baseline, but not found", report.gone),
        ("Not audited", passed_over),
        ("Skipped", [*_skips(report)]),
    )
    for title, rows in lists:
        if rows:
            yield element("section", element("h2", title), _list_long(rows), class_="rest")


def _list_long(rows: Sequence[str]) -> Element:
    return listed(rows) if len(rows) <= _LONGEST_LIST else folded(plural(len(rows), "row"), listed(rows))


def _skips(report: AuditReport) -> Iterator[str]:
    """A line for each reason: the checks, and how many files they passed over."""
    skips = sorted(
        (skip.reason, skip.check, skip.subject)
        for skip in report.skipped
        if skip.check != PASSED_OVER and not skip.unread
    )
    for reason, rows in groupby(skips, key=lambda row: row[0]):
        listed_rows = list(rows)
        codes = ", ".join(dict.fromkeys(code for _, code, _ in listed_rows))
        subjects = list(dict.fromkeys(subject for _, _, subject in listed_rows))
        more = f" and {plural(len(subjects) - 1, 'other file')}" if len(subjects) > 1 else ""
        yield f"{subjects[0]}{more}: {reason} ({codes})"


def _footer(report: AuditReport) -> Element:
    packages = folded(
        plural(len(report.packages), "package") + " read",
        listed(report.packages),
        is_open=len(report.packages) <= _LONGEST_LIST,
    )
    tool = element(
        "p", f"loadcheck {__version__}; {report.choice}. loadcheck --explain CODE explains a check.", class_="soft"
    )
    return element("footer", element("h2", "Packages"), packages, tool)


def _describe_graph(graph: Graph) -> dict[str, object]:
    """What the script draws."""
    owners = list(dict.fromkeys(node.owner for node in graph.nodes if node.owner))
    nodes = []
    for node in graph.nodes:
        more = [f"and {len(node.names) - _LONGEST_LIST} more"] if len(node.names) > _LONGEST_LIST else []
        nodes.append(
            {
                "kind": node.kind,
                "owner": owners.index(node.owner) if node.owner else -1,
                "label": node.label,
                "detail": node.detail or node.copy,
                "names": [*node.names[:_LONGEST_LIST], *more],
                "severity": node.severity or "",
                "copy": bool(node.copy),
            }
        )
    return {"nodes": nodes, "edges": _list_edges(graph), "owners": owners}


def _list_edges(graph: Graph) -> list[list[object]]:
    return [[edge.user, edge.source, edge.is_missing, edge.libraries[:_LONGEST_LIST]] for edge in graph.edges]

"""Renders an audit report as text for people: a few lines for each cause, then one line with the counts."""

from __future__ import annotations

from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from loadcheck.engine.cause import package_of, sections
from loadcheck.engine.wording import assumption_line, count_line, demangle, others, place, unread_line
from loadcheck.model import PASSED_OVER
from loadcheck.text import plural, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from loadcheck.engine.cause import Cause
    from loadcheck.model import AuditReport, Finding, Skipped

_MOST_CAUSES, _MOST_WORDS, _LONGEST = (5, 2, 1), 6, 70
"""How many causes of a check are shown: the first of these numbers that makes the package's section short enough."""
_MOST_LINES = 36
"""The limit for a package's section. With the name and the last line, a report on one package stays below 40 lines."""
_INDENT = " " * 10


def audit_text(report: AuditReport, *, verbose: bool = False) -> str:
    """The errors of each package, then its warnings, grouped by cause.

    `verbose` adds notes, all places, all evidence and skipped checks.
    """
    lines: list[str] = []
    for package, package_causes in sections(report).items():
        shown = [cause for cause in package_causes if verbose or cause.severity != "note"]
        lines += [package] if shown and len(report.packages) > 1 else []
        lines += _section(shown, report, verbose=verbose)
    lines += _add_title("waived", _list_waivers(report))
    lines += _add_title("waivers that accept nothing", report.unused if verbose else _few(report.unused))
    lines += _add_title("in the baseline, but not found", report.gone if verbose else _few(report.gone))
    others = [f"{skip.subject}: {skip.reason}" for skip in report.skipped if skip.check == PASSED_OVER]
    lines += _add_title("not audited", others if verbose else _few(others))
    if verbose:
        skips = [skip for skip in report.skipped if skip.check != PASSED_OVER]
        lines += _add_title("skipped", _list_skips(skips))
    lines += unread_line(report)
    lines.append(count_line(report, notes_hidden=not verbose))
    # A line feed in a hostile name would start a line that looks like a finding.
    return "".join(printable(line).replace("\n", "\\n") + "\n" for line in lines)


def _section(shown: Iterable[Cause], report: AuditReport, *, verbose: bool) -> list[str]:
    """The causes of a package by check and fix. Without `verbose` at most _MOST_LINES."""
    groups = [
        list(group) for _, group in groupby(shown, key=lambda cause: (cause.severity, *shared_texts(cause.first)))
    ]
    if verbose:
        return [line for group in groups for line in _check(group, len(group), _everything, report)]
    for most in _MOST_CAUSES:
        blocks = [[*_check(group, most, _summary, report)] for group in groups]
        if sum(map(len, blocks)) <= _MOST_LINES:
            break
    ends = list(accumulate(map(len, blocks)))
    fits = len(ends) if not ends or ends[-1] <= _MOST_LINES else sum(end < _MOST_LINES for end in ends)
    lines = [line for block in blocks[:fits] for line in block]
    if rest := groups[fits:]:
        codes = ", ".join(dict.fromkeys(group[0].first.code for group in rest))
        lines.append(f"  … {plural(sum(map(len, rest)), 'more cause')} of {codes}: -v")
    return lines


def _check(
    group: Sequence[Cause], most: int, details: Callable[[Cause, AuditReport], Iterator[str]], report: AuditReport
) -> Iterator[str]:
    """The first causes of one check that have the same fix, and the fix."""
    some = group if len(group) <= most + 1 else group[:most]
    for cause in some:
        yield f"  {cause.severity:7} {cause.first.code} {cause.first.message}"
        yield from details(cause, report)
    if rest := group[len(some) :]:
        differences = _differing([cause.first.message for cause in group])[len(some) :]
        fitting = [differences[0], *_list_fitting(differences[1:_MOST_WORDS], _LONGEST - len(differences[0]))]
        listed = f": {', '.join(fitting)}{', ...' * (len(differences) > len(fitting))}" if all(differences) else ""
        yield f"{_INDENT}and {len(rest)} more of {group[0].first.code} (-v){listed}"
    yield from (f"{_INDENT}{line}" for line in (*assumption_line(group[0].first), f"fix: {group[0].first.fix}"))


def shared_texts(finding: Finding) -> tuple[str, str, str]:
    """What causes have in common that are listed together."""
    return finding.code, finding.fix, finding.assumption


def _summary(cause: Cause, report: AuditReport) -> Iterator[str]:
    where = place(cause.first.subject, report) or "the package"
    if where != "the package" or len(cause.subjects) > 1:
        yield f"{_INDENT}in {where}{others(cause, report)}"
    quoted = f"{cause.first.message}\n{cause.first.subject}"
    for text in cause.first.evidence[:1]:
        if demangle(text.rpartition(" ")[2]) not in quoted:
            yield f"{_INDENT}saw: {text}"


def _everything(cause: Cause, report: AuditReport) -> Iterator[str]:
    for finding in cause.findings:
        where = place(finding.subject, report)
        package = package_of(finding.subject, report.packages)
        if package != package_of(cause.first.subject, report.packages):
            where = f"{package}!{where}" if where else package
        other_message = f": {finding.message}" if finding.message != cause.first.message else ""
        if where or other_message:
            yield f"{_INDENT}in {where}{other_message}"
        yield from (f"{_INDENT}  saw: {text}" for text in finding.evidence if text not in finding.message)


def _differing(messages: Sequence[str]) -> list[str]:
    """Each message without the first and last words that all of them share."""
    split = [message.split() for message in messages]
    least = min(map(len, split))
    before = next((n for n in range(least) if len({parts[n] for parts in split}) > 1), least)
    after = next((n for n in range(least - before) if len({parts[-1 - n] for parts in split}) > 1), least - before)
    return [" ".join(parts[before : len(parts) - after]).rstrip(",:") for parts in split]


def _add_title(title: str, lines: Sequence[str]) -> list[str]:
    return [title, *(f"  {line}" for line in lines)] if lines else []


def _few(lines: Sequence[str]) -> list[str]:
    few = _MOST_CAUSES[0]
    more = len(lines) - few
    return [*lines[:few], *([f"and {more} more (-v)"] if more > 0 else [])]


def _list_waivers(report: AuditReport) -> list[str]:
    """One line for each check and reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for waived in report.waived:
        groups.setdefault((waived.finding.code, waived.reason), []).append(waived.finding.subject)
    return [
        f"{code} {subjects[0]}{f' and {len(subjects) - 1} more' if len(subjects) > 1 else ''}: {reason}"
        for (code, reason), subjects in groups.items()
    ]


def _list_skips(skips: Iterable[Skipped]) -> list[str]:
    """One line for each subject and reason, with the names of up to four checks, else their number."""
    groups: dict[tuple[str, str], list[str]] = {}
    for skip in skips:
        groups.setdefault((skip.subject, skip.reason), []).append(skip.check)
    few = 4
    return [
        f"{', '.join(names) if len(names) <= few else plural(len(names), 'check')} {subject}: {reason}"
        for (subject, reason), names in groups.items()
    ]


def _list_fitting(words: Iterable[str], longest: int) -> Iterator[str]:
    """The first words that fit into a line together: none is cut."""
    for word in words:
        longest -= len(word)
        if longest < 0:
            return
        yield word

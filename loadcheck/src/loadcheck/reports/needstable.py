"""The tables of what files need: who asks for what, and who supplies it."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from loadcheck.reports.markup import element, folded
from loadcheck.text import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from loadcheck.model import AuditReport, Need, SupplyKind

_MOST_OPEN, _MOST_FILES = 3, 4
"""How many tables are open, and how many files of a row are shown."""
_ORDER = ("missing", "unread", "unjudged", "requirement", "package", "system")


def count_missing(needs: Iterable[Need]) -> int:
    """How many different libraries are missing, each once for a package."""
    return len({(need.owner, need.library) for need in needs if need.supply == "missing"})


def needs_tables(report: AuditReport) -> Iterator[Element]:
    """A table for each package, those that lack a library first; the first of these are open."""
    by_owner: dict[str, list[Need]] = defaultdict(list)
    for need in report.needs:
        by_owner[need.owner].append(need)
    accepted = _list_accepted(report)
    ordered = sorted(by_owner.items(), key=lambda item: (not count_missing(item[1]), item[0]))
    for index, (owner, needs) in enumerate(ordered):
        missing = count_missing(needs)
        summary = f"{owner}: {plural(len({need.file for need in needs}), 'file')}" + f", {missing} missing" * bool(
            missing
        )
        yield folded(summary, _table(owner, needs, accepted), is_open=bool(missing) and index < _MOST_OPEN)


def _list_accepted(report: AuditReport) -> Mapping[tuple[str, str], str]:
    """Why findings on needed libraries are accepted, by subject and library."""
    waived = {
        (waived.finding.subject, library): f"waived: {waived.reason}"
        for waived in report.waived
        for library in waived.finding.libraries
    }
    known = {(each.subject, library): "in the baseline" for each in report.known for library in each.libraries}
    return {**known, **waived}


def _table(owner: str, needs: Sequence[Need], accepted: Mapping[tuple[str, str], str]) -> Element:
    """What each file asks of whom. Files that ask the same are in one row."""
    head = element("tr", *(element("th", text, scope="col") for text in ("file", "asks for", "supplied by")))
    by_file: dict[tuple[str, SupplyKind, str], list[str]] = defaultdict(list)
    for need in needs:
        supplier = _supplier(need, accepted.get((need.subject, need.library), ""))
        by_file[need.file or owner, need.supply, supplier].append(need.library)
    rows: dict[tuple[SupplyKind, str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (file, supply, supplier), libraries in by_file.items():
        rows[supply, supplier, tuple(sorted(libraries))].append(file)
    ordered = sorted(rows.items(), key=lambda row: (_ORDER.index(row[0][0]), row[1], row[0]))
    body = (_row(files, *row) for row, files in ordered)
    return element(
        "div",
        element("table", element("caption", f"What {owner} asks for"), element("thead", head), element("tbody", *body)),
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=f"What {owner} asks for",
    )


def _row(files: Sequence[str], supply: SupplyKind, supplier: str, libraries: Sequence[str]) -> Element:
    first, rest = files[:_MOST_FILES], files[_MOST_FILES:]
    shown = [element("div", file) for file in first]
    more = folded(f"and {len(rest)} more", *(element("div", file) for file in rest)) if rest else None
    cells = (element("td", ", ".join(libraries)), element("td", supplier))
    return element("tr", element("th", *shown, more, scope="row"), *cells, class_=supply)


def _supplier(need: Need, accepted: str) -> str:
    """Who supplies a library, in words."""
    remark = f" ({need.message})" if need.severity == "note" else ""
    if need.supply == "missing":
        return f"missing, {need.severity}: {need.message}" + f" ({accepted})" * bool(accepted)
    if need.supply == "system":
        return f"the system{remark}"
    if need.supply == "unread":
        return f"perhaps {need.source}, which was not read"
    if need.supply == "unjudged":
        return f"not judged{remark}"
    where = f": {need.path}" if need.path else ""
    if need.supply == "requirement":
        return f"{need.source}, which is required{where}{remark}"
    return f"{'the package itself' if need.source == need.owner else need.source}{where}{remark}"

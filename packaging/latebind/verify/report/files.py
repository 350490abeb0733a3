"""The files of a report: JSON, Markdown, JUnit and HTML beside the logs that they name. Knows no cell's meaning."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import InputError
from latebind.system.archive import write_text
from latebind.verify.report.html import to_html
from latebind.verify.report.merge import merge
from latebind.verify.report.render import to_junit, to_markdown
from latebind.verify.report.report import Report, Row, read_report, to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOG_BYTES = 64 << 20
"""A consumer in a loop could write for as long as its time lasts; a report is carried between machines."""


def write_reports(report: Report, folder: Path, log_of: Callable[[Row], str]) -> None:
    """Write verify.json, .md, .xml and .html into a folder, and the logs into its logs/; earlier ones go."""
    texts = {row.log: log_of(row) for row in report.cells if row.log}
    shutil.rmtree(folder / "logs", ignore_errors=True)
    for name, text in texts.items():
        write_text(folder / name, text)
    write_text(folder / "verify.json", to_json(report))
    for name, text in renderings(report, lambda row: texts.get(row.log, "")).items():
        write_text(folder / name, text)


def renderings(report: Report, log_of: Callable[[Row], str]) -> dict[str, str]:
    """A report for readers, by the names of its files."""
    return {
        "verify.md": to_markdown(report),
        "verify.xml": to_junit(report),
        "verify.html": to_html(report, log_of),
    }


def merge_files(files: Sequence[Path]) -> tuple[Report, Callable[[Row], str]]:
    """The reports of several files added up, and what gives the log of a cell, from beside the report it came from.

    Raises InputError for a file that is named twice, and as `read_report` and `merge` do.
    """
    twice = [str(file) for file, number in Counter(file.resolve() for file in files).items() if number > 1]
    if twice:
        raise InputError("is named twice", where=", ".join(twice), advice="Name each report once.")
    reports = {str(file): read_report(file) for file in files}
    merged = merge(reports)
    beside = [Path(name).parent for name, report in reports.items() for _ in report.machines]
    return merged, lambda row: read_log(beside[row.machine], row)


def read_log(folder: Path, row: Row) -> str:
    """A cell's log, whose name lies in a folder; "" when it is not there. No link leads out of the folder."""
    file = folder / row.log
    try:
        if not row.log or not file.is_file() or not file.resolve().is_relative_to(folder.resolve()):
            return ""
        with file.open("rb") as stream:
            return stream.read(_LOG_BYTES).decode("utf-8", "backslashreplace")
    except OSError:
        return ""

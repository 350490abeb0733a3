"""Writes a report's files: JSON, Markdown, JUnit and HTML, with the logs next to them."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import InputError
from latebind.system.archive import write_text
from latebind.verify.report.html import report_html
from latebind.verify.report.merge import merge
from latebind.verify.report.render import report_junit, report_markdown
from latebind.verify.report.report import CaseResult, Report, read_report, report_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOG_BYTES = 64 << 20
"""A consumer in a loop could fill the disk; a report is copied between machines."""


def write_reports(report: Report, folder: Path, log_of: Callable[[CaseResult], str]) -> None:
    """Write verify.json, .md, .xml and .html into a folder, and the logs into its logs/, which is emptied first."""
    texts = {result.log: log_of(result) for result in report.cases if result.log}
    shutil.rmtree(folder / "logs", ignore_errors=True)
    for name, text in texts.items():
        write_text(folder / name, text)
    write_text(folder / "verify.json", report_json(report))
    for name, text in renderings(report, lambda result: texts.get(result.log, "")).items():
        write_text(folder / name, text)


def renderings(report: Report, log_of: Callable[[CaseResult], str]) -> dict[str, str]:
    """The texts of a report for readers, by file name."""
    return {
        "verify.md": report_markdown(report),
        "verify.xml": report_junit(report),
        "verify.html": report_html(report, log_of),
    }


def merge_files(files: Sequence[Path]) -> tuple[Report, Callable[[CaseResult], str]]:
    """The merged report of several files, and a function that reads a test case's log from the folder of its report.

    Raises InputError for a file that is named twice, and as `read_report` and `merge` do.
    """
    twice = [str(file) for file, number in Counter(file.resolve() for file in files).items() if number > 1]
    if twice:
        raise InputError("is given twice", where=", ".join(twice), advice="Name each report once.")
    reports = {str(file): read_report(file) for file in files}
    merged = merge(reports)
    beside = [Path(name).parent for name, report in reports.items() for _ in report.machines]
    return merged, lambda result: read_log(beside[result.machine], result)


def read_log(folder: Path, result: CaseResult) -> str:
    """A test case's log in a folder, "" when it has none. Links that lead out of the folder are not followed."""
    file = folder / result.log
    try:
        if not result.log or not file.is_file() or not file.resolve().is_relative_to(folder.resolve()):
            return ""
        with file.open("rb") as stream:
            return stream.read(_LOG_BYTES).decode("utf-8", "backslashreplace")
    except OSError:
        return ""

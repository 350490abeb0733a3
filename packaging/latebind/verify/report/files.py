"""Writes a report's files: JSON, Markdown, JUnit and HTML, with the logs next to them."""

from __future__ import annotations

import shutil
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import InputError
from latebind.verify.report.html import report_html
from latebind.verify.report.merge import merge
from latebind.verify.report.render import report_junit, report_markdown
from latebind.verify.report.report import CaseResult, Report, parse_report, read_report, report_json
from latebind.verify.report.view import View, view_of
from loadcheck.archive import ZipReader, write_text

if TYPE_CHECKING:
    LogReader = Callable[[CaseResult], str]

_REPORT = "verify.json"
_LOG_BYTES = 64 << 20
"""A consumer in a loop could fill the disk; a report is copied between machines."""


def write_reports(report: Report, folder: Path, log_of: LogReader) -> tuple[View, Mapping[str, str]]:
    """Write verify.json, .md, .xml and .html into a folder, and the logs into its logs/. What they show; their texts.

    The logs of an earlier report there are removed. In a folder without one, logs/ is another program's.
    """
    logs = {result.log: log_of(result) for result in report.cases if result.log}
    if (folder / _REPORT).is_file():
        shutil.rmtree(folder / "logs", ignore_errors=True)
    view = view_of(report)
    texts = {_REPORT: report_json(report), **renderings(view, lambda result: logs.get(result.log, ""))}
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


def merge_files(files: Sequence[Path]) -> tuple[Report, LogReader]:
    """The merged report of several files, and a function that reads a test case's log from where its report is.

    A file is a `verify.json` with its logs in the same folder, or a zip archive of both, as a kit writes it. Raises
    InputError for a file that is named twice, for a damaged archive, and as `read_report` and `merge` do.
    """
    twice = [str(file) for file, number in Counter(file.resolve() for file in files).items() if number > 1]
    if twice:
        raise InputError("is given twice", where=", ".join(twice), advice="Name each report once.")
    opened = {str(file): _open_report(file) for file in files}
    merged = merge({name: report for name, (report, _) in opened.items()})
    readers = [reader for report, reader in opened.values() for _ in report.machines]
    return merged, lambda result: readers[result.machine](result)


def _open_report(file: Path) -> tuple[Report, LogReader]:
    """A report and its logs. Only the logs that the report names are read from an archive, into memory."""
    if not zipfile.is_zipfile(file) and (file.suffix != ".zip" or not file.is_file()):
        return read_report(file), lambda result: read_log(file.parent, result)
    try:
        report, texts = _read_archive(file)
    except InputError as error:
        advice = error.advice or "Copy the file again from the computer where the kit wrote it."
        raise InputError(error.message, where=error.where, advice=advice) from error
    return report, lambda result: texts.get(result.log, "")


def _read_archive(file: Path) -> tuple[Report, dict[str, str]]:
    with ZipReader(file) as archive:
        report = parse_report(archive.read(_REPORT, _LOG_BYTES), file)
        stored = {member.name for member in archive.members}
        names = {result.log for result in report.cases} & stored
        texts = {name: archive.read(name, _LOG_BYTES).decode("utf-8", "backslashreplace") for name in sorted(names)}
    return report, texts


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

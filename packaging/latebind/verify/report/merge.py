"""Merges the reports of several machines that verified the same packages, also those in the archives of kits."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from latebind.backend.targets import installs, targets
from latebind.errors import INPUT_ERRORS, InputError
from latebind.model import State
from latebind.verify.report.data import (
    LOG_BYTES,
    REPORT,
    CaseResult,
    Elsewhere,
    LogReader,
    PackageHash,
    Provenance,
    Report,
    parse_report,
    read_log,
    read_report,
)
from loadcheck.facts import ZipReader

_WEIGHT = {State.FAILED: 4, State.PASSED: 3, State.EMULATED: 2, State.GLUE: 1, State.NOT_RUN: 0}
"""A failure anywhere counts; a pass anywhere makes up for machines that could not run the test case, or proved less."""
_ADVICE = "Build once, verify the same files on every machine, and merge the reports."


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
    except INPUT_ERRORS as error:
        advice = error.advice or "Copy the file again from the computer where the kit wrote it."
        raise InputError(error.message, where=error.where, advice=advice) from error
    return report, lambda result: texts.get(result.log, "")


def _read_archive(file: Path) -> tuple[Report, dict[str, str]]:
    with ZipReader(file) as archive:
        report = parse_report(archive.read(REPORT, LOG_BYTES), file)
        stored = {member.name for member in archive.members}
        names = {result.log for result in report.cases} & stored
        texts = {name: archive.read(name, LOG_BYTES).decode("utf-8", "backslashreplace") for name in sorted(names)}
    return report, texts


def merge(reports: Mapping[str, Report]) -> Report:
    """One report of several, by the names of their files, with the machines in the order given.

    Of each test case the weightiest outcome counts: failed, then passed from the real system to the least level, then
    not run; the first of equals. Others that ran are kept in `elsewhere`.

    Raises InputError when a report is given twice, when sources or packages differ, and when a package is missing from
    the report of a machine that needed it.
    """
    _check_different(reports)
    packages = _packages(reports)
    _check_complete(reports, packages)
    by_id: dict[str, list[CaseResult]] = {}
    first = 0
    for report in reports.values():
        for result in report.cases:
            ends = tuple(msgspec.structs.replace(end, machine=end.machine + first) for end in result.elsewhere)
            renumbered = msgspec.structs.replace(result, machine=result.machine + first, elsewhere=ends)
            by_id.setdefault(result.id, []).append(renumbered)
        first += len(report.machines)
    machines = tuple(machine for report in reports.values() for machine in report.machines)
    return Report(
        packages=packages,
        cases=tuple(_merge_results(results) for results in by_id.values()),
        machines=machines,
        source=_source(reports),
    )


def _source(reports: Mapping[str, Report]) -> Provenance:
    """The sources of all reports; a machine without git knows no commit. Raises InputError when they differ."""
    agreed = {}
    for field in Provenance.__struct_fields__:
        values = {getattr(report.source, field) for report in reports.values()} - {""}
        if len(values) > 1:
            raise InputError(
                f"the reports differ in {field}: {', '.join(sorted(values))}", where="--merge", advice=_ADVICE
            )
        agreed[field] = next(iter(values), "")
    return Provenance(**agreed)


def _check_different(reports: Mapping[str, Report]) -> None:
    """Refuse a report that is given twice: it would look like two machines."""
    names: dict[bytes, str] = {}
    for name, report in reports.items():
        twin = names.setdefault(msgspec.json.encode(report, order="deterministic"), name)
        if twin != name:
            raise InputError("is the same report", where=f"{twin} and {name}", advice="Name each report once.")


def _packages(reports: Mapping[str, Report]) -> tuple[PackageHash, ...]:
    """Every package once, by name. Raises InputError with each file that has two hashes, and where."""
    hashes_by_file: dict[str, dict[str, list[str]]] = {}
    for name, report in reports.items():
        for package in report.packages:
            hashes_by_file.setdefault(package.file, {}).setdefault(package.sha256, []).append(name)
    problems = []
    for file, hashes in hashes_by_file.items():
        if len(hashes) > 1:
            copies = (f"{digest[:16]}… in {', '.join(names)}" for digest, names in hashes.items())
            problems.append(f"{file} is {' and '.join(copies)}")
    if problems:
        raise InputError(f"the packages differ: {'; '.join(problems)}", where="--merge", advice=_ADVICE)
    return tuple(PackageHash(file, next(iter(hashes))) for file, hashes in sorted(hashes_by_file.items()))


def _check_complete(reports: Mapping[str, Report], packages: Sequence[PackageHash]) -> None:
    """A report may lack only packages for other targets than those that it ran test cases of."""
    for name, report in reports.items():
        have = {package.file for package in report.packages}
        ran = {result.target for result in report.cases if result.outcome is not State.NOT_RUN}
        for package in packages:
            meant = _targets_of(package.file)
            if package.file in have or (meant is not None and not meant & ran):
                continue
            why = (
                f"though it ran test cases of {', '.join(sorted(meant & ran))}"
                if meant
                else "which serves every target"
            )
            raise InputError(f"lacks the package {package.file}, {why}", where=name, advice=_ADVICE)


def _targets_of(file: str) -> frozenset[str] | None:
    """The targets that a package is for, by its name; None for all targets."""
    try:
        tags = {tag.platform for tag in parse_wheel_filename(file)[3]}
    except InvalidWheelFilename:
        # npm has names of its own: linux-x64-musl, which begins with the name of another target.
        names = {name: str(rid) for rid, target in targets().items() for name in (rid, target.npm)}
        contained = [name for name in names if re.search(rf"[.-]{name}[.-]", file)]
        return frozenset({names[max(contained, key=len)]}) if contained else None
    fits = frozenset(str(rid) for rid, target in targets().items() if any(installs(target, tag) for tag in tags))
    return None if "any" in tags else fits or None


def _merge_results(results: Sequence[CaseResult]) -> CaseResult:
    best = max(results, key=lambda result: _WEIGHT[result.outcome])  # max() gives the first of equals
    ends: list[Elsewhere] = []
    for result in results:
        itself = [] if result is best else [Elsewhere(result.machine, result.outcome, result.reason)]
        ends += [*itself, *result.elsewhere]
    return msgspec.structs.replace(best, elsewhere=tuple(end for end in ends if end.outcome is not State.NOT_RUN))

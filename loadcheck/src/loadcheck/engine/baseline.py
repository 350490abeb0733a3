"""Reads, writes and applies a baseline: a file of findings that are known and no longer reported one by one."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from loadcheck.engine.cause import fingerprint, package_of, stable
from loadcheck.errors import InputError
from loadcheck.text import encodable, shell_word

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from loadcheck.engine.policy import Choice
    from loadcheck.model import AuditReport, Finding

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Another form or syntax, another encoding, and values that are nested thousands of levels deep."""
_KEY, _FORMAT = "loadcheck_baseline", 1


class _Entry(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """A known finding. Its fingerprint identifies it. The check, the file and the message are for readers."""

    code: str
    subject: str
    fingerprint: str
    message: str


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    loadcheck_baseline: int
    findings: tuple[_Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The known findings of a file."""

    name: str
    entries: tuple[_Entry, ...]


def read_baseline(path: Path) -> Baseline:
    """Read a baseline. Raises InputError for a file that cannot be read, or is not a baseline in this format."""
    advice = f"Write a new one with the same packages and the option --write-baseline {shell_word(path)}"
    try:
        file = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise InputError(f"the baseline cannot be read: {error.strerror}", where=str(path), advice=advice) from error
    except DECODE_ERRORS as error:
        raise InputError(f"is not a baseline of loadcheck: {error}", where=str(path), advice=advice) from error
    if file.loadcheck_baseline != _FORMAT:
        text = (
            f"is a baseline of format {file.loadcheck_baseline}, but this version of loadcheck reads format {_FORMAT}"
        )
        raise InputError(text, where=str(path), advice=advice)
    return Baseline(name=path.name, entries=file.findings)


def baseline_text(findings: Iterable[Finding]) -> str:
    """The text of a baseline with these findings, one per line."""
    entries = sorted({entry.fingerprint: entry for entry in map(_entry, findings)}.values())
    lines = ",\n".join(f"    {json.dumps(msgspec.to_builtins(entry), ensure_ascii=False)}" for entry in entries)
    inner = f"\n{lines}\n  " if lines else ""
    return encodable(f'{{\n  "{_KEY}": {_FORMAT},\n  "findings": [{inner}]\n}}\n')


def without_known(report: AuditReport, baseline: Baseline, choice: Choice) -> AuditReport:
    """The report without the findings of the baseline.

    Its `gone` lists the entries that no longer occur, if their package was audited and their check was chosen.
    """
    entries = {entry.fingerprint: entry for entry in baseline.entries}
    keys = {finding: fingerprint(finding) for finding in report.findings}
    audited = [stable(name, name) for name in report.packages]
    seen = set(keys.values()) | {fingerprint(waived.finding) for waived in report.waived}
    gone = sorted(
        f"{baseline.name}: {entry.code} {entry.subject} {entry.message}"
        for key, entry in entries.items()
        if key not in seen and choice.takes(entry.code) and package_of(entry.subject, audited) in audited
    )
    return replace(
        report,
        findings=tuple(finding for finding in report.findings if keys[finding] not in entries),
        known=tuple(finding for finding in report.findings if keys[finding] in entries),
        gone=tuple(gone),
    )


def _entry(finding: Finding) -> _Entry:
    package = finding.subject.partition("!")[0]
    subject, message = (encodable(stable(text, package)) for text in (finding.subject, finding.message))
    return _Entry(code=finding.code, subject=subject, fingerprint=fingerprint(finding), message=message)

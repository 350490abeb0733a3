"""Groups findings by cause, and compares them between builds and versions of a package."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from loadcheck.model import SEVERITIES
from loadcheck.readers.contents import GRAFTED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from loadcheck.model import AuditReport, Finding, Severity

_RELEASE = re.compile(r"[-.]\d.*")
"""Everything after the project's name in a package's file name."""
_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)-.*?(?P<platform>[^-]+)\.whl")
_VERSION = (_WHEEL, re.compile(r"[^-]+-(?P<version>.+)\.tar\.gz"), re.compile(r".+?\.(?P<version>\d+\..+)\.s?nupkg"))
_FLOOR = re.compile(r"(?<=linux)(?:1|20\d\d)(?=_)|_\d+(?=_)")
"""The oldest system in a platform tag: manylinux_2_28_x86_64, manylinux2014_x86_64, macosx_11_0_arm64."""
_PYTHON = re.compile(r"(?<=\.cpython-)3\d+t?|(?<=\.cp)3\d+t?(?=-)")
"""The version of Python in the file name of a module."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Findings of one check for one reason, whatever their messages say."""

    id: str
    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The finding that stands for all of them."""
        return self.findings[0]

    @property
    def severity(self) -> Severity:
        """The severity of all of them."""
        return self.first.severity

    @property
    def subjects(self) -> tuple[str, ...]:
        """Where it was found, each place once."""
        return tuple(dict.fromkeys(finding.subject for finding in self.findings))


def causes(findings: Iterable[Finding]) -> tuple[Cause, ...]:
    """The findings by cause: errors first, then by check and fix; the cause with the most findings first."""
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, cause_id(finding)), []).append(finding)
    unordered = (Cause(id=key, findings=tuple(group)) for (_, key), group in groups.items())
    return tuple(sorted(unordered, key=_order))


def _order(cause: Cause) -> tuple[int, str, str, str, int, str]:
    finding = cause.first
    group = (SEVERITIES.index(finding.severity), finding.code, finding.fix, finding.assumption)
    return *group, -len(cause.findings), finding.message


def sections(report: AuditReport) -> dict[str, tuple[Cause, ...]]:
    """The causes of each package, those with errors first.

    Packages of one project, such as its wheels for each platform, have most causes in common. A cause is listed with
    the first package that has it.
    """
    projects: dict[str, list[Finding]] = {}
    for finding in report.findings:
        name = package_of(finding.subject, report.packages)
        projects.setdefault(_RELEASE.sub("", name).lower(), []).append(finding)
    by_package: dict[str, list[Cause]] = {}
    for cause in (cause for group in projects.values() for cause in causes(group)):
        by_package.setdefault(package_of(cause.first.subject, report.packages), []).append(cause)
    ordered = sorted(
        by_package.items(), key=lambda item: (min(SEVERITIES.index(cause.severity) for cause in item[1]), item[0])
    )
    return {name: tuple(group) for name, group in ordered}


def package_of(subject: str, packages: Collection[str]) -> str:
    """The package, folder or binary that a subject belongs to; the innermost if there are several."""
    head = subject.partition("!")[0]
    if head in packages:
        return head
    within = [name for name in packages if subject.startswith(f"{name}/")]
    return max(within, key=len, default=head)


def cause_id(finding: Finding) -> str:
    """A stable id of the cause: the same in all files, builds and versions of a package."""
    return _digest(finding, finding.cause)


def fingerprint(finding: Finding) -> str:
    """A stable id of the finding: its check, cause and file, and the names that it is about."""
    return _digest(finding, finding.cause, finding.subject, *sorted(finding.names))


def stable(text: str, package: str) -> str:
    """Text without the parts that differ between builds and releases: versions, floors, hashes of grafted files."""
    short, version = _read_release(package)
    if version is not None:
        text = version.sub("*", text.replace(package, short))
    return _PYTHON.sub("*", GRAFTED.sub("-*", text))


@cache
def _read_release(package: str) -> tuple[str, re.Pattern[str] | None]:
    """The name of a package in a baseline, and the pattern that finds its version in other text."""
    release = next((match for form in _VERSION if (match := form.fullmatch(package))), None)
    if release is None:
        return package, None
    version = re.compile(rf"(?<![\w.]){re.escape(release['version'])}(?!\w|\.\d)")
    if release.re is _WHEEL:
        systems = sorted({_FLOOR.sub("", tag) for tag in release["platform"].split(".")})
        return f"{release['name']}-*-{'.'.join(systems)}.whl", version
    start, end = release.span("version")
    return f"{package[:start]}*{package[end:]}", version


def _digest(finding: Finding, *keys: str) -> str:
    package = finding.subject.partition("!")[0]
    texts = (finding.code, *(stable(key, package) for key in keys))
    return hashlib.sha256("\0".join(texts).encode("utf-8", "backslashreplace")).hexdigest()[:12]

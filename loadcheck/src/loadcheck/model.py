"""Declares what an audit finds as frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NewType

Rid = NewType("Rid", str)
"""A portable .NET runtime identifier: `linux-x64`."""
Sha256 = NewType("Sha256", str)
"""Lower-case hexadecimal SHA-256 of a file's bytes."""
System = Literal["linux", "macos", "windows"]
Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""From the most severe to the least."""
SupplyKind = Literal["package", "requirement", "system", "unread", "missing", "unjudged"]
"""Who supplies a needed library.

It is in a package that was read, a requirement or the system brings it, a requirement that was not read may bring it,
a check reports with a warning or an error that the loader does not find it, or no check judged that.
"""
Profile = Literal["loads", "runtime", "all"]
"""A choice of the audit's checks."""
PROFILES: tuple[Profile, ...] = ("loads", "runtime", "all")
"""The values of `--profile`, from the narrowest to the widest."""
FailOn = Literal["error", "warning", "never"]
"""The least severity with which a finding fails an audit."""
Kind = str
"""What a package file is: `wheel`, `npm` (`formats.py`); what is audited may also be `folder` or `binary`."""
SYMBOLS_SUFFIX = "-symbols.zip"
"""The suffix of archives of native debug symbols."""
SYMBOLS_MANIFEST = "symbols.json"
"""The file with the metadata of such an archive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that an audit saw, with what proves it and what fixes it.

    `subject` is `package-file!inner/path`, or a path alone for a bare file.
    """

    code: str
    severity: Severity
    subject: str
    message: str
    evidence: tuple[str, ...] = ()
    fix: str = ""
    cause: str = ""
    """What tells this cause from the others of its check: `libz.so.1 driver`; "" if the check has one."""
    names: tuple[str, ...] = ()
    """The names that it is about, such as symbols: with another name, it is another finding of the same cause."""
    assumption: str = ""
    """What the finding assumes because the package doesn't show it; "" for nothing."""
    libraries: tuple[str, ...] = ()
    """The needed libraries that it is about, as the file names them."""


PASSED_OVER = "path"
"""In place of a check: a path that was named and has nothing to audit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A check that could not be applied to a subject, and why."""

    check: str
    subject: str
    reason: str
    library: str = ""
    """A needed library that a requirement may install; "" if it is about something else."""
    unread: tuple[str, ...] = ()
    """The requirements that were not read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waived:
    """A finding that the configuration accepts, with the reason given there."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A library that a file needs, and who supplies it."""

    subject: str
    """The file, as findings name it."""
    owner: str
    """The package that has the file; in an environment the distribution, with its version."""
    file: str
    """Its path inside the owner; "" for a bare file."""
    library: str
    """The library, as the file names it."""
    supply: SupplyKind
    source: str = ""
    """The package or distribution that has the library, or the requirements that may have it; "" for neither."""
    path: str = ""
    """Where the source has it."""
    severity: Severity | None = None
    """How bad the worst finding on the library is; None if there is none."""
    message: str = ""
    """What that finding says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copy:
    """A library of an environment that is also in another distribution, and works only once in a process."""

    family: str
    """What it is: `OpenMP`."""
    owner: str
    """The distribution that has this copy, with its version."""
    file: str
    name: str
    """What is the same for two copies if a process loads only one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """Everything that one audit found."""

    subjects: int
    findings: tuple[Finding, ...] = ()
    waived: tuple[Waived, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    packages: tuple[str, ...] = ()
    """The names of the packages, folders and binaries; sorted."""
    known: tuple[Finding, ...] = ()
    """Findings of the baseline."""
    gone: tuple[str, ...] = ()
    """Entries of the baseline that no longer occur."""
    choice: str = "--profile all"
    """Which checks were applied, as options of `loadcheck`."""
    unused: tuple[str, ...] = ()
    """Waivers of checks that ran, which accept no finding."""
    fail_on: FailOn = "error"
    is_strict: bool = False
    """Whether the audit also fails for what is undecided."""
    is_resolved: bool = False
    """Whether the requirements were to be read."""
    needs: tuple[Need, ...] = ()
    """What each file needs; only if the policy asks for it (`Policy.lists_needs`)."""
    copies: tuple[Copy, ...] = ()
    """The copies of libraries that work only once in a process; only if the policy asks for needs."""

    def fails(self, finding: Finding) -> bool:
        """Whether a finding fails the audit."""
        return self.fail_on != "never" and SEVERITIES.index(finding.severity) <= SEVERITIES.index(self.fail_on)

    @property
    def undecided(self) -> tuple[Skipped, ...]:
        """What requirements decide that were not read."""
        return tuple(skip for skip in self.skipped if skip.unread)

    @property
    def refused(self) -> tuple[Skipped, ...]:
        """What is undecided, if that fails the audit."""
        return self.undecided if self.is_strict else ()

    @property
    def exit_status(self) -> int:
        """1 when a finding is as severe as `fail_on`, or something is undecided and that is to fail; else 0."""
        fails = any(self.fails(finding) for finding in self.findings)
        return int(fails or bool(self.refused))

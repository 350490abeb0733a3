"""Defines the rules of an audit run."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from loadcheck.engine.choice import Choice
from loadcheck.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loadcheck.model import FailOn, Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A finding that is accepted. `subject` is a glob over the finding's subject."""

    code: str
    subject: str
    reason: str

    def __post_init__(self) -> None:
        """Refuse a waiver without a reason."""
        if not self.reason.strip():
            raise UserError(
                f"the waiver of {self.code} for {self.subject} has no reason",
                advice="Write in `reason` why the finding is accepted. Reports print this reason.",
            )

    def covers(self, finding: Finding) -> bool:
        """Whether this waiver accepts that finding."""
        return finding.code == self.code and fnmatchcase(finding.subject, self.subject)

    def __str__(self) -> str:
        """What it accepts, for people."""
        return f"{self.code} {self.subject}: {self.reason}"


class Runtime(Protocol):
    """A library that another package supplies, and that checks of late binding judge: other checks pass over it."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def entry_symbols(self) -> tuple[str, ...]:
        """The functions by which it is recognized."""

    @property
    def linked_globs(self) -> tuple[str, ...]:
        """The file names that a binary asks for if it links the library."""

    @property
    def distribution(self) -> str:
        """The distribution on PyPI that has the library; "" if none has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one audit run. The default fits any package: it has no project's rules."""

    runtimes: tuple[Runtime, ...] = ()
    """The runtimes that other checks judge."""
    glibc: str = ""
    """The configured floor of everything without a tag: nupkgs, folders, bare files. "" for none."""
    macos: str = ""
    """The same for macOS."""
    waivers: tuple[Waiver, ...] = ()
    choice: Choice = field(default_factory=Choice)
    """The checks to apply."""
    fail_on: FailOn = "error"
    is_strict: bool = False
    """Whether the audit also fails for what is undecided."""
    resolve: bool = False
    """Whether to read from the package index what requirements install."""

    def judges_link(self, library: str) -> bool:  # noqa: ARG002  # asked by those that know runtimes
        """Whether another check of this run judges that a binary links the library."""
        return False


GROUP = "loadcheck.policy"
"""The entry point group of a distribution that has rules for packages of any project."""


@cache
def default_policy() -> Policy:
    """The rules for any package: those of the installed distribution that has such rules, or none."""
    for entry in entry_points(group=GROUP):
        policy: Policy = entry.load()()
        return policy
    return Policy()


def fits_any(name: str, globs: Iterable[str]) -> bool:
    """Whether a name or path matches one of the globs, ignoring case as Windows and macOS do. "" matches none."""
    small = name.lower()
    return bool(name) and any(fnmatchcase(small, glob.lower()) for glob in globs)

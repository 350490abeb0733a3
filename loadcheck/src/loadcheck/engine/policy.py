"""Defines the rules of an audit run, and which checks it has."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from loadcheck.engine.catalog import checks
from loadcheck.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from loadcheck.model import FailOn, Finding, Profile


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which checks run: those of `profile`, or those of `select`, without those of `ignore`.

    `select` and `ignore` hold codes and prefixes of codes, such as `LB1`. If both match a check, the longer one counts;
    if both are equal, `ignore` does. A check that always runs is left out only if `ignore` names its whole code.
    """

    profile: Profile = "all"
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The options of this choice, with a count unless all checks run: `--profile loads: 37 of 61 checks`."""
        chosen = f"--select {','.join(self.select)}" if self.select else f"--profile {self.profile}"
        if self.ignore:
            chosen += f" --ignore {','.join(self.ignore)}"
        count = sum(map(self.takes, checks()))
        return chosen if count == len(checks()) else f"{chosen}: {count} of {len(checks())} checks"

    @property
    def is_any_left(self) -> bool:
        """Whether it has a check besides those that always run."""
        return any(self.takes(code) for code, check in checks().items() if not check.always)

    def takes(self, code: str) -> bool:
        """Whether a check runs."""
        check = checks()[code]
        if check.always:
            return code not in self.ignore
        selected = _longest(code, self.select) if self.select else int(self.profile in check.profiles)
        return selected > _longest(code, self.ignore)


def _longest(code: str, prefixes: Iterable[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=0)


def read_codes(texts: Iterable[str], where: str) -> tuple[str, ...]:
    """Codes and prefixes as users write them: in upper or lower case, with or without commas.

    Raises UserError, naming the nearest code, for one that matches no check.
    """
    written = [part.strip() for text in texts for part in text.split(",")]
    distinct = {text.upper(): text for text in written if text}
    for code, text in distinct.items():
        if not any(existing.startswith(code) for existing in checks()):
            near = get_close_matches(code, [*checks(), *{existing[:3] for existing in checks()}], n=1, cutoff=0.0)[0]
            title = f", {checks()[near].title}" if near in checks() else ""
            raise UserError(
                f"{text} matches no check",
                where=where,
                advice=f"Did you mean {near}{title}? loadcheck --explain LB107 explains a check.",
            )
    return tuple(distinct)


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
    """The oldest macOS that is configured for everything without a tag; "" for none."""
    waivers: tuple[Waiver, ...] = ()
    choice: Choice = field(default_factory=Choice)
    """The checks to apply."""
    fail_on: FailOn = "error"
    is_strict: bool = False
    """Whether the audit also fails for what is undecided."""
    resolve: bool = False
    """Whether to read from the package index what requirements install."""
    lists_needs: bool = False
    """Whether the report also has what each file needs, for a drawing of it."""

    def judges_link(self, library: str) -> bool:  # noqa: ARG002  # asked by those that know runtimes
        """Whether another check of this run judges that a binary links the library."""
        return False

    def may_bring(self, distribution: str, library: str) -> bool:  # noqa: ARG002  # as above
        """Whether a distribution that nobody has read may have a library."""
        return True


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

"""The registry of checks: each is a small declared object; this module runs them and knows none by name."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass
from operator import eq
from typing import TYPE_CHECKING, Literal, TypeVar

from latebind.errors import LatebindError
from latebind.model import Finding, Severity, Skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from latebind.audit.subject import Kind
    from latebind.binary import Format

FAMILIES: Mapping[str, str] = {
    "LB1": "Linkage",
    "LB2": "Symbols",
    "LB3": "Tags and floors",
    "LB4": "Layout",
    "LB5": "Metadata",
    "LB6": "Hygiene",
    "LB7": "Runtime identifiers",
}
ALL_KINDS: tuple[Kind, ...] = ("wheel", "nupkg", "sdist", "archive", "folder", "binary")
ARCHIVES: tuple[Kind, ...] = ("wheel", "nupkg", "sdist", "archive")

EVERY_FORMAT: tuple[Format, ...] = ("elf", "macho", "pe")

Scope = Literal["binary", "package", "set"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """What a check saw. The registry makes a Finding of it."""

    message: str
    evidence: tuple[str, ...] = ()
    fix: str = ""
    """What mends this very case; "" for the check's own cure."""
    inner: str | None = None
    """The file inside the package; None for the file that is checked."""
    severity: Severity | None = None
    """Where this case weighs other than the check does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Why a check could not judge its subject."""

    reason: str
    inner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One rule: what it is called, where it applies, why it is there, and the function that decides."""

    code: str
    title: str
    severity: Severity
    scope: Scope
    kinds: tuple[Kind, ...]
    formats: tuple[Format, ...]
    rationale: str
    example: str
    cure: str
    run: Callable[..., Iterable[Hit | Skip]]

    def judge(self, subject: Callable[[str], str], inner: str, *what: object) -> Iterator[Finding | Skipped]:
        """Run the check; `subject` names a file inside the package, `inner` is the file that is checked."""
        for seen in self.run(*what):
            name = subject(inner if seen.inner is None else seen.inner)
            if isinstance(seen, Skip):
                yield Skipped(check=self.code, subject=name, reason=seen.reason)
            else:
                yield Finding(
                    code=self.code,
                    severity=seen.severity or self.severity,
                    subject=name,
                    message=seen.message,
                    evidence=seen.evidence,
                    fix=seen.fix or self.cure,
                )


_MODULES = (
    "runtime",
    "linkage",
    "symbols",
    "tags",
    "modules",
    "layout",
    "nupkgs",
    "buildfiles",
    "nugetrules",
    "sdists",
    "twins",
    "metadata",
    "dependencies",
    "hygiene",
    "hardening",
    "macos",
    "windows",
    "rid",
)
_CHECKS: dict[str, Check] = {}
_Run = TypeVar("_Run", bound="Callable[..., Iterable[Hit | Skip]]")


def check(  # noqa: PLR0913  # the declaration of a check is a table row
    code: str,
    title: str,
    severity: Severity,
    *,
    scope: Scope,
    example: str,
    cure: str,
    kinds: tuple[Kind, ...] = ALL_KINDS,
    formats: tuple[Format, ...] = ("elf",),
) -> Callable[[_Run], _Run]:
    """Declare the decorated function as a check. Its docstring is the rationale that users read.

    A binary check is called with (package, file, image, policy), a package check with (package, policy), a check
    of the whole set with (facts of all packages, policy).
    """

    def register(run: _Run) -> _Run:
        if code in _CHECKS or code[:3] not in FAMILIES:
            raise AssertionError(code)
        _CHECKS[code] = Check(
            code=code,
            title=title,
            severity=severity,
            scope=scope,
            kinds=kinds,
            formats=formats,
            rationale=inspect.cleandoc(run.__doc__ or ""),
            example=example,
            cure=cure,
            run=run,
        )
        return run

    return register


def checks() -> Mapping[str, Check]:
    """All checks by code, sorted."""
    for module in _MODULES:  # declarations register themselves when their modules load
        importlib.import_module(f"latebind.audit.{module}")
    return dict(sorted(_CHECKS.items()))


def explain(code: str) -> Check:
    """The check of that code, in any case. Raises LatebindError naming the nearest and all the others."""
    known = checks()
    if code.upper() in known:
        return known[code.upper()]
    near = max(known, key=lambda row: sum(map(eq, row, code.upper())))  # the first of those with most places equal
    raise LatebindError(
        f"{code} is not a check",
        advice=f"Did you mean {near}, {known[near].title}? All codes: {', '.join(known)}.",
    )

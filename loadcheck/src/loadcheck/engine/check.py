"""Declares checks: `@check` turns a function into a `Check`, which runs it with the values that it names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Literal

from loadcheck.errors import UserError
from loadcheck.formats import FORMATS
from loadcheck.model import PROFILES, Finding, Kind, Profile, Severity, Skipped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from loadcheck.binary import Format
    from loadcheck.engine.policy import Policy

ARCHIVES: tuple[Kind, ...] = tuple(dict.fromkeys(form.audited_as for form in FORMATS))
ALL_KINDS: tuple[Kind, ...] = (*ARCHIVES, "folder", "binary")
INSTALLED: tuple[Kind, ...] = tuple(dict.fromkeys(form.audited_as for form in FORMATS if form.is_installed))
"""What consumers install."""
PROMISING: tuple[Kind, ...] = ("wheel", "nupkg", "jar", "sdk")
"""What says for which target each library is: by tags, or by names of folders and files (`AuditedKind.find_rid`)."""

Scope = Literal["binary", "package", "set"]
PARAMETERS: Mapping[Scope, tuple[str, ...]] = {
    "binary": ("package", "file", "image", "wheel", "policy", "runtime"),
    "package": ("package", "wheel", "policy", "runtime"),
    "set": ("packages", "policy", "runtime"),
}
"""What a check of each scope may name as its parameters; see docs/howto/checks.md."""
_CODE = re.compile(r"[A-Z]{2,10}[0-9]{3}")
RETIRED = frozenset({
    "LB109", "LB110", "LB203", "LB404", "LB505", "LB510", "LB608", "LB610", "LB613", "LB614", "LB616", "LB617", "LB702",
    "LB807", "LB951", "LB952",
})  # fmt: skip
"""Codes of checks that are gone: baselines and configurations may still name them for what they were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A problem that a check found; a Finding is made of it."""

    message: str
    cause: str = ""
    """What tells this cause from the others of the check: a word, or what is missing. "" if the check has one cause.

    Reports group findings by it, and a baseline knows them by it. It must not depend on how the message is worded.
    """
    names: tuple[str, ...] = ()
    """The names that it is about, such as symbols, where one more name is a new problem for a baseline."""
    evidence: tuple[str, ...] = ()
    """What proves it; by default, the name of the file."""
    fix: str = ""
    """How to fix this case; "" for the check's own."""
    inner: str | None = None
    """The file inside the package; None for the file that is checked."""
    severity: Severity | None = None
    """The severity of this case, where it differs from the check's."""
    assumption: str = ""
    """What this case assumes because the package doesn't show it. Such a case is a warning at most."""
    libraries: tuple[str, ...] = ()
    """The needed libraries that it is about, as the file names them: whether a loader finds them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """Why a check could not judge its subject."""

    reason: str
    inner: str | None = None
    library: str = ""
    """The library that it is about; see `Skipped`."""
    unread: tuple[str, ...] = ()


Hits = Iterator[Hit | Skip]
"""What a check yields."""


@dataclass(frozen=True, slots=True)
class Check:
    """One rule: its code, where it applies, why it exists, and the function that decides.

    It decorates this function, whose docstring is the rationale that users read. The function is called with the values
    that its parameters name; PARAMETERS lists those of each scope. Raises UserError for a code of another form and for
    a parameter that the scope does not have.
    """

    code: str
    title: str
    severity: Severity
    _: KW_ONLY
    example: str
    """One finding in short form."""
    fix: str
    """How to fix a Hit without a fix of its own."""
    because: str = ""
    """Why it has this severity, and when it has another one."""
    scope: Scope | None = None
    """By default, the parameters decide."""
    kinds: tuple[Kind, ...] = ALL_KINDS
    """Only wheels for a check whose parameters name `wheel`."""
    formats: tuple[Format, ...] = ("elf", "macho", "pe")
    profiles: tuple[Profile, ...] = ("loads",)
    """The profiles that apply it: `"loads"` (the package installs and loads, and has no security hole), `"runtime"`
    (late binding); every check is in `"all"`."""
    always: bool = False
    """Whether every choice applies it: an unreadable file was not judged, and a report must not hide that."""
    of_unread: bool = False
    """Whether it also judges packages that could not be opened, or whose reader died."""
    seeks_markers: Callable[[Policy], Iterable[str]] = lambda _policy: ()
    """The strings that it needs to be searched for in each binary; see `File.markers`."""
    origin: str = ""
    """The distribution that provides the check; "" for loadcheck and latebind themselves."""
    run: Callable[..., Iterable[Hit | Skip]] = lambda: ()
    parameters: tuple[str, ...] = ()
    """The values that `run` asks for, by name."""

    @property
    def rationale(self) -> str:
        """Why it exists, for users."""
        return inspect.cleandoc(self.run.__doc__ or "")

    def __call__(self, run: Callable[..., Iterable[Hit | Skip]]) -> Check:
        """The check that decides by a function."""
        parameters = tuple(inspect.signature(run).parameters)
        scope = self.scope or _scope_of(parameters)
        unknown = [name for name in parameters if name not in PARAMETERS[scope]]
        if unknown:
            raise UserError(
                f"check {self.code} has the parameter {unknown[0]!r}, which a {scope} check does not get",
                advice=f"Use only these parameters: {', '.join(PARAMETERS[scope])}.",
            )
        if not _CODE.fullmatch(self.code):
            advice = "Write 2 to 10 capital letters and 3 digits: ACME001."
            raise UserError(f"{self.code!r} is not a valid check code", advice=advice)
        if self.code in RETIRED:
            advice = "Take the next number that no check ever had."
            raise UserError(f"{self.code} is the code of a check that is gone", advice=advice)
        profiles = tuple(name for name in PROFILES if self.always or name in (*self.profiles, "all"))
        kinds: tuple[Kind, ...] = ("wheel",) if "wheel" in parameters else self.kinds
        return replace(self, scope=scope, profiles=profiles, kinds=kinds, run=run, parameters=parameters)

    def judge(
        self, subject: Callable[[str], str], inner: str, policy: Policy, **values: object
    ) -> Iterator[Finding | Skipped]:
        """Run the check. `subject` names a file inside the package, `inner` is the file that is checked.

        Raises UserError, naming the check and its distribution, when a third-party check fails.
        """
        try:
            for arguments in self._calls(policy, values):
                for seen in self.run(**arguments):
                    place = inner if seen.inner is None else seen.inner
                    yield self._row(seen, subject(place), (place,) if place else ())
        except Exception as error:
            if not self.origin:
                raise
            raise UserError(
                f"check {self.code} of {self.origin} failed with {type(error).__name__}: {error}"
            ) from error

    def _calls(self, policy: Policy, values: Mapping[str, object]) -> Iterator[dict[str, Any]]:
        """The arguments of each call: one call, or one per runtime; none if `run` names `wheel` and there is none."""
        arguments = {name: values[name] for name in self.parameters if name in values}
        if "policy" in self.parameters:
            arguments["policy"] = policy
        if None in arguments.values():
            return
        if "runtime" in self.parameters:
            yield from ({**arguments, "runtime": runtime} for runtime in policy.runtimes)
        else:
            yield arguments

    def _row(self, seen: Hit | Skip, subject: str, names: tuple[str, ...]) -> Finding | Skipped:
        if isinstance(seen, Skip):
            return Skipped(
                check=self.code, subject=subject, reason=seen.reason, library=seen.library, unread=seen.unread
            )
        severity = seen.severity or self.severity
        return Finding(
            code=self.code,
            severity="warning" if seen.assumption and severity == "error" else severity,
            subject=subject,
            message=seen.message,
            cause=seen.cause,
            names=seen.names,
            evidence=seen.evidence or names,
            fix=seen.fix or self.fix,
            assumption=seen.assumption,
            libraries=seen.libraries,
        )


check = Check


def _scope_of(parameters: tuple[str, ...]) -> Scope:
    """The scope that has a check's parameters: only a binary check gets a file, and only a set check all packages."""
    if "packages" in parameters:
        return "set"
    return "binary" if {"file", "image"} & {*parameters} else "package"

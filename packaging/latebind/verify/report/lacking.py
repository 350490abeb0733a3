"""What would make test cases run that were not run, and how many each would add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.errors import NOT_RUN_REASONS
from latebind.model import State
from latebind.tables.targets import targets
from loadcheck.model import Rid
from loadcheck.text import plural

if TYPE_CHECKING:
    from latebind.verify.report.report import CaseResult

_SYSTEMS = {"linux": "Linux", "macos": "a Mac", "windows": "Windows"}
_ELSEWHERE = ("no-machine", "not-emulated")
"""Reasons that only another machine changes."""
_KIT = "latebind verify --kit DIR, and one command there"
_WHATS = {
    "no-dotnet": "a .NET SDK",
    "no-sdk": "a .NET SDK, 8.0 or newer",
    "no-mono": "Mono with the reference assemblies of .NET Framework",
    "no-node": "Node.js with npm",
    "no-program": "the programs that their summaries name",
    "no-index": "a package index that can be reached",
    "no-compiler": "a C compiler",
    "no-interpreter": "the CPythons that their names have",
    "no-device": "a device for the execution provider",
    "no-host": "a program that can load the plugin",
    "no-main": "a consumer whose main() may be called",
    "no-access": "a working folder that other users can reach",
    "no-sandbox": "an emulated machine",
    "not-built": "the packages that were not made",
}
"""By reason; for one that is not here, nothing would."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """Something that is missing here."""

    what: str
    """`a Mac (arm64)`, `a .NET SDK`."""
    number: int
    """How many test cases it would add."""
    how: str
    """How to get them run; "" where `what` says it."""

    def __str__(self) -> str:
        """`a Mac (arm64): 40 test cases (latebind verify --kit DIR, and one command there)`."""
        return f"{self.what}: {plural(self.number, 'test case')}{self.how and f' ({self.how})'}"


def list_lacks(results: Iterable[CaseResult]) -> tuple[Lack, ...]:
    """What is missing, what would add the most first."""
    whats = Counter(_name_lack(result) for result in results if result.outcome is State.NOT_RUN)
    return tuple(Lack(what=what, number=number, how=how) for (what, how), number in whats.most_common())


def _name_lack(result: CaseResult) -> tuple[str, str]:
    if result.reason in _ELSEWHERE:
        platform = targets().get(Rid(result.target))
        return f"{_SYSTEMS[platform.system]} ({_processor(result.target)})" if platform else result.target, _KIT
    return _WHATS.get(result.reason) or f"nothing: {NOT_RUN_REASONS.get(result.reason, result.reason)}", ""


def _processor(rid: str) -> str:
    """`arm64`, `musl, x64`."""
    return ", ".join(rid.split("-")[1:])

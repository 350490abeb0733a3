"""Declares the nouns of latebind as frozen data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal

from latebind.backend.targets import Rid
from loadcheck import Kind, Sha256

SbomFormat = Literal["cyclonedx-1.6", "cyclonedx-1.7"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A package that was made: a wheel, an sdist, a nupkg."""

    path: Path
    kind: Kind
    sha256: Sha256
    size: int
    made_from: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMade:
    """A package that was not made, with a reason and an explanation for the user."""

    package: str
    kind: Kind
    reason: str
    message: str


class State(Enum):
    """How a test case ended. What passed on an emulator never counts as passed on the system itself."""

    PASSED = "passed"
    """The real runtime, on the real system."""
    EMULATED = "passed, emulated"
    """The real runtime, on an emulated system."""
    GLUE = "glue passed"
    """The package's own machine code on an emulated system, without the real runtime."""
    FAILED = "failed"
    NOT_RUN = "not run"

    @property
    def is_pass(self) -> bool:
        """Whether it passed at any level."""
        return self in _LEVEL_OF.values()


Level = Literal["real", "emulated", "glue"]
LEVELS: tuple[Level, ...] = ("real", "emulated", "glue")
"""How much a test case proves that passed, the most first."""
_LEVEL_OF: Mapping[Level, State] = {"real": State.PASSED, "emulated": State.EMULATED, "glue": State.GLUE}


def passed_at(level: Level) -> State:
    """The state of a test case that passed on a machine of that level."""
    return _LEVEL_OF[level]


def list_passes(level: Level) -> tuple[State, ...]:
    """The states that prove at least as much as a level."""
    return tuple(_LEVEL_OF[name] for name in LEVELS[: LEVELS.index(level) + 1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing to verify: what, where, with which runtime, and in which scenario."""

    kind: Kind
    target: Rid
    consumer: str
    """Who consumes the package: `python3.11`, `dotnet-build`, `dotnet-publish`."""
    runtime: str
    """The distribution that supplies the runtime, or "" for none."""
    version: str
    """The runtime's version, or ""."""
    scenario: str

    @property
    def id(self) -> str:
        """A stable name: kind/target/consumer/runtime-version/scenario; `no-runtime` where none is installed."""
        supply = f"{self.runtime}-{self.version}" if self.version else f"no-{self.runtime or 'runtime'}"
        return f"{self.kind}/{self.target}/{self.consumer}/{supply}/{self.scenario}"

    @property
    def consumer_kind(self) -> str:
        """The consumer without the version of its interpreter: `python` for `python3.11`."""
        return self.consumer.rstrip("0123456789.t") if self.consumer.startswith("python") else self.consumer


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a test case."""

    case: Case
    state: State
    reason: str = ""
    """For *not run* a reason; for *failed* what was expected and what was seen."""
    summary: str = ""
    """For *passed*: what was shown, in a few words."""
    seconds: float = 0.0
    log: str = ""
    """The log file, relative to the report."""
    cached: bool = False
    entries: tuple[str, ...] = ()
    """The entries of [verify].runtimes that the test case covers: `minimum`, `latest`, a version."""
    facts: Mapping[str, object] = field(default_factory=dict)
    """Numbers and lists that the report keeps: counts, tests out of scope by name."""

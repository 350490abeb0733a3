"""One test case with everything that it needs to run, and how far it came."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from packaging.version import Version

from latebind.backend.targets import Rid, target
from latebind.config.config import Config
from latebind.config.runtime import RuntimeUse
from latebind.errors import ANY_ERROR, AnyError, LatebindError, NotRun
from latebind.model import Artifact, Case, Outcome, State
from latebind.verify.declared import ORDINARY, SAMPLE, ConfiguredCase, Consumer, Scenario, Situation, find_consumer
from latebind.verify.run.access import unlock
from latebind.verify.run.machine import Machine, host_machine
from latebind.verify.run.native import build_beside, build_stand_in

if TYPE_CHECKING:
    from latebind.compilers.interpreters import Interpreter
    from latebind.verify.run.protocol import ConsumerResult
    from latebind.verify.run.shared import Shared

Phase = Literal["prepare", "install", "load", "inference"]
"""How far a test case came. prepare: something other than the packages failed, such as the project's data script.
install: an installer, or `dotnet` while it restores and builds. load: nothing could be loaded, it came from a wrong
place, or the consumer crashed. inference: results are wrong, or too few cases were computed."""

_PROVIDER_CRASH = (
    "GetApi() returns NULL when the runtime is older than the requested version, and a provider that uses this NULL "
    "crashes. Check the result, or call lb_ep_negotiate() of <latebind/ep.h>, which returns a status instead."
)
_SAYS_SO = "the stand-in for"
"""What the message of a function that a stand-in lacks has."""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_NO_ROOM_WORDS = (*(os.strerror(number) for number in _NO_ROOM), "(os error 112)")
"""What programs print on a full disk. They have no exit status for it; the last is uv's on Windows."""


class PhaseError(LatebindError):
    """What went wrong in a test case, with the phase in which it did."""

    def __init__(self, phase: Phase, error: AnyError) -> None:
        super().__init__(error.message, where=error.where, advice=error.advice)
        self.phase: Phase = phase


@contextmanager
def failing_at(phase: Phase) -> Iterator[None]:
    """Give errors inside a phase, unless they have one.

    Raises PhaseError for any LatebindError but NotRun, which passes unchanged.
    """
    try:
        yield
    except (NotRun, PhaseError):
        raise
    except ANY_ERROR as error:
        raise PhaseError(phase, error) from error


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A test case with its packages and folders."""

    configured: ConfiguredCase
    scenario: Scenario
    config: Config
    artifacts: tuple[Artifact, ...]
    shared: Shared
    work: Path
    log: Path
    machine: Machine
    interpreters: tuple[Interpreter, ...]
    """The CPythons of the test case's minor version; the first is the ordinary one."""

    @property
    def case(self) -> Case:
        """The test case itself."""
        return self.configured.case

    @property
    def bound_runtime(self) -> RuntimeUse | None:
        """The runtime that it is about; None for a project that binds none."""
        return self.configured.bound_runtime

    @property
    def consumer(self) -> Consumer:
        """Who installs the packages."""
        return find_consumer(self.case.consumer)

    @property
    def python(self) -> Path:
        """The interpreter that this machine's tools are asked with; on this machine, the consumers', too."""
        return self.interpreters[0].path

    @cached_property
    def situation(self) -> Situation:
        """What the scenario sets up; made when it is first needed. Raises NotRun."""
        set_up = self.scenario.set_up
        return (
            ORDINARY if self.bound_runtime is None else set_up(self, self.bound_runtime) if callable(set_up) else set_up
        )

    def library(self, runtime: RuntimeUse, version: str, rid: Rid | None = None) -> Path:
        """The runtime's shared library of a version for a target, by default the test case's; or its stand-in.

        Raises NotRun when neither can be had, InputError when the runtime's wheel holds no shared runtime.
        """
        rid = rid or self.case.target
        if self.configured.stands_in:
            return build_stand_in(self.shared, self.config.floor(target(rid)), runtime, version, rid)
        return self.shared.library(runtime, version, rid)

    def library_beside(self) -> Path:
        """The library of another package, which has `beside_check()`. Raises NotRun without a compiler."""
        return build_beside(self.shared, self.config.floor(target(self.machine.rid)), self.machine)

    def older(self) -> str:
        """A runtime version that is older than the test case's. Raises NotRun when the index has none."""
        oldest = self.configured.oldest
        if not oldest or Version(oldest) >= Version(self.case.version):
            text = f"the index has no supported version below {self.case.version} for this target"
            raise NotRun("no-distribution", text)
        return oldest

    def consumer_words(self) -> tuple[str, ...]:
        """What the scenario adds to the consumer's command line."""
        sample = ("--sample", str(self.sample)) if self.sample else ()
        which = self.runtime_words() if self.consumer.names_runtime else ()
        return (*which, *sample, *self.situation.arguments)

    def runtime_words(self) -> tuple[str, ...]:
        """The option that names one of several runtimes; empty for a project with one."""
        several = len(self.config.document.runtime) > 1
        return ("--runtime", self.bound_runtime.name) if several and self.bound_runtime is not None else ()

    @property
    def sample(self) -> int:
        """How many of the cases are computed, evenly spread; 0 for all of them.

        An emulated machine is slow. It computes all of them with the runtime's ordinary distribution only.
        """
        return self.scenario.sample or (SAMPLE if self._is_other_distribution and not self.machine.is_host else 0)

    @property
    def oldest_bound(self) -> str:
        """The oldest runtime version that the consumer may compute with; "" where the test case names none."""
        versions = (*self.binds(), self.situation.first, self.case.version)
        return min(filter(None, versions), key=Version, default="")

    def data(self) -> Path:
        """The folder of what the consumer computes. An older runtime has data of its own: it knows less."""
        return self.shared.data(self.config.verification_of(self.bound_runtime).data, self.oldest_bound)

    def values(self, installed: str = "") -> Mapping[str, str]:
        """What fills the placeholders of the scenario's messages; `installed` is the runtime's installed file."""
        if self.bound_runtime is None:
            return {}
        preset = self.bound_runtime.traits
        fix, install = self.consumer.find_install_words(self.config, self.configured.package, self.bound_runtime)
        return {
            "title": preset.title,
            "dist": preset.python.distribution,
            "version": self.case.version,
            "minimum": self.bound_runtime.minimum,
            "floor": preset.floor,
            "installed": installed,
            "fix": fix,
            "install": install,
            "short": preset.short_text if preset.stub and "message" in preset.stub.failures.values() else "",
            **self.situation.values,
        }

    @property
    def has_version(self) -> bool:
        """Whether the runtime reports its version."""
        return self.bound_runtime is None or self.bound_runtime.traits.has_version

    def binds(self) -> tuple[str, ...]:
        """The runtime versions that may be bound; () for any: other distributions have their own numbers."""
        has_variants = self.bound_runtime is not None and bool(self.bound_runtime.traits.variants)
        if self._is_other_distribution and not has_variants:
            return ()
        if not self.has_version:
            return ()
        return self.situation.binds or (self.case.version,)

    def shorten(self, version: str) -> str:
        """A version as the runtime reports it: NVRTC of 13.5.37 says 13.5, PyTorch 2.13.0+cpu says 2.13.0."""
        numbers, version = self.bound_runtime.numbers if self.bound_runtime else 0, version.partition("+")[0]
        return ".".join(version.split(".")[:numbers]) if numbers else version

    @property
    def crash_advice(self) -> str:
        """What to do when the system ends the consumer; "" where nothing particular is known."""
        return _PROVIDER_CRASH if any(package.ep for package in self.config.packages.values()) else ""

    def _ordinary(self) -> str:
        return self.bound_runtime.traits.python.distribution if self.bound_runtime else ""

    @property
    def _is_other_distribution(self) -> bool:
        names = ("", self._ordinary())
        return bool(self.bound_runtime) and self.consumer.has_interpreters and self.case.runtime not in names

    def reference(self, result: ConsumerResult) -> frozenset[str] | None:
        """The cases that the runtime's own API passes, without some that passed; None where that does not matter."""
        if self.scenario.negative or self.bound_runtime is None:
            return None
        if self.configured.stands_in:  # it computes little, and says so
            return frozenset(result.passed) | {one.name for one in result.failed if _SAYS_SO not in one.message}
        passed, failed = frozenset(result.passed), frozenset(failure.name for failure in result.failed)
        if self.sample and not failed:  # nobody asks about the other cases
            return passed
        others = passed | frozenset(result.out_of_scope)
        name = self.case.runtime if self.consumer.has_interpreters else self._ordinary()
        version = next(iter(self.binds()), self.case.version)
        machine = self.machine if self.consumer.has_interpreters else host_machine(self.python)
        ask = partial(
            self.shared.reference,
            data=self.data(),
            arguments=self.runtime_words(),
            passed=passed,
            is_settled=lambda case: case not in failed if self.sample else case in others,
            only=failed if self.sample else (),
        )
        if self.sample and self._is_other_distribution:  # its own would take minutes on an emulated machine
            with suppress(NotRun):  # the ordinary distribution may lack this version
                return ask(machine, f"{self._ordinary()}=={version}")
        return ask(machine, f"{name}=={version}")

    def at_least(self) -> int:
        """How many cases must pass: what the configuration sets for the newest version up to that of the data."""
        if self.configured.stands_in:
            return 1
        every = self.config.verification_of(self.bound_runtime).count_required(self.oldest_bound)
        return min(self.sample // 2, every) or 1 if self.sample else every


def assert_first(bound: str, first: str) -> None:
    """Raises LatebindError when the runtime that was bound before an upgrade is not the one that was installed."""
    if bound != first:
        raise LatebindError(f"{bound or 'no version'} was bound before the upgrade, but {first} was installed")


def try_case(trial: Trial, run_case: Callable[[Trial], Outcome]) -> Outcome:
    """Run a test case in a folder of its own, which stays when it failed.

    Raises OSError when the disk is full: that shows nothing about the packages, and would fail all other test cases.
    """
    _remove(trial.work)
    trial.work.mkdir(parents=True)
    trial.log.unlink(missing_ok=True)
    try:
        outcome = run_case(trial)
    except NotRun as error:
        summary = ". ".join(filter(None, (error.message, error.advice)))
        return Outcome(case=trial.case, state=State.NOT_RUN, reason=error.reason, summary=summary)
    except ANY_ERROR as error:
        if any(phrase in str(error) for phrase in _NO_ROOM_WORDS):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(trial.log)) from error
        phase = error.phase if isinstance(error, PhaseError) else "prepare"
        return Outcome(case=trial.case, state=State.FAILED, reason=str(error), facts={"phase": phase})
    except OSError as error:  # a consumer may do anything to its folder
        if error.errno in _NO_ROOM:
            raise
        reason = f"{error.filename}: {error.strerror}"
        return Outcome(case=trial.case, state=State.FAILED, reason=reason, facts={"phase": "load"})
    if outcome.state is not State.FAILED:
        _remove(trial.work)
    return outcome


def _remove(work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)
    if work.is_dir():  # the scenario or the consumer has locked a folder in it
        unlock(work)
        shutil.rmtree(work, ignore_errors=True)

"""Runs the test cases of a verification in parallel, remembers what passed, and reports the outcomes."""

from __future__ import annotations

import os
import platform
import re
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from operator import itemgetter
from pathlib import Path
from threading import Semaphore
from typing import TYPE_CHECKING

from latebind.backend.notes import duration
from latebind.backend.targets import Rid, host_rid
from latebind.compilers import dotnet, mono
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.errors import LatebindError, NotRun
from latebind.model import Artifact, Outcome, State, passed_at
from latebind.system.emulation import find_emulator
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.system.run import check_limits
from latebind.text import plural, shorten
from latebind.verify.cases.scenarios import scenario
from latebind.verify.choose import ChosenCases, able
from latebind.verify.report.data import NEWER_THAN, Report, is_newer_minor, report_of
from latebind.verify.run.consumer import find_consumer, find_run
from latebind.verify.run.machine import Machine, unusable
from latebind.verify.run.remembered import Memory
from latebind.verify.run.supply import SHARED, Supply
from latebind.verify.run.trial import Trial, try_case

if TYPE_CHECKING:
    from latebind.compilers.interpreters import Interpreter
    from latebind.verify.cases.expand import ConfiguredCase
    from latebind.verify.packages import Packages
    from latebind.verify.run.installers import Installer

_LONGEST = 2
_SUMMARY = 200
"""Of a test case, in a line."""


@dataclass(slots=True)
class RunningCases:
    """The test cases that run, and since when. Its methods may be called from several threads."""

    started: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def hold(self, name: str) -> Iterator[None]:
        """Count a test case among those that run."""
        self.started[name] = time.monotonic()
        try:
            yield
        finally:
            del self.started[name]

    def describe(self) -> str:
        """`(wheel/linux-x64/python3.11/onnxruntime-1.32.0/works for 9 min 30 s)`: those that run longest."""
        longest = sorted(self.started.copy().items(), key=itemgetter(1))[:_LONGEST]
        times = [f"{name} for {duration(time.monotonic() - started)}" for name, started in longest]
        return f"({'; '.join(times)})" if times else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRun:
    """What all test cases of one run share."""

    config: Config
    chosen: ChosenCases
    artifacts: tuple[Artifact, ...]
    supply: Supply
    unusable: Mapping[Rid, NotRun]
    """Why machines cannot be used."""
    memory: Memory
    places: Mapping[Rid, AbstractContextManager[object]]
    """What a test case on a machine with `jobs` waits for, by target."""
    running: RunningCases = field(default_factory=RunningCases)


def verify(project: Project, chosen: ChosenCases, packages: Packages) -> Report:
    """Run every chosen test case that this machine can; the others are *not run*.

    Test cases that passed are remembered by the content of everything that they depend on.
    """
    run = _start(project, chosen, packages.artifacts)
    number = plural(len(chosen.cases), "test case")
    with LOG.step(
        f"verifying {number}", f"verified {number}", run.running.describe, total=len(chosen.cases)
    ) as finished:
        ordered = order_cases(chosen.cases)
        outcomes = each(lambda one: _outcome(run, one), ordered, jobs=chosen.request.jobs, finished=finished)
    by_id = {outcome.case.id: outcome for outcome in outcomes}
    completed = [_complete_outcome(configured, by_id[configured.case.id]) for configured in chosen.cases]
    return report_of(packages.source, packages.artifacts, completed, _describe_machine(chosen))


def _start(project: Project, chosen: ChosenCases, artifacts: tuple[Artifact, ...]) -> VerifyRun:
    """Pin requirements to the index's versions of now, and find out which machines can be used."""
    check_limits()
    config, folder, request = project.config, chosen.folder, chosen.request
    verify, python = config.document.verify, chosen.pythons[0].path
    pins = tuple(each(lambda requirement: _pinned(chosen.tool, requirement, python), verify.python_requires))
    supply = Supply(root=config.root, verify=verify, folder=folder / "supply", installer=chosen.tool, pins=pins)
    supply.folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(supply.folder / SHARED, ignore_errors=True)
    described = [machine for rid, machine in request.machines.items() if rid in request.rids]
    sdk = _find_sdk(config.root) if verify.dotnet else ""
    return VerifyRun(
        config=config,
        chosen=chosen,
        artifacts=artifacts,
        supply=supply,
        unusable=unusable(described, folder / "home"),
        memory=Memory(
            folder / "passed",
            root=project.config.root,
            document=project.config.document,
            outputs=project.outputs,
            artifacts=artifacts,
            circumstances=(*pins, sdk),
        ),
        places={machine.rid: Semaphore(machine.jobs) for machine in described if machine.jobs},
    )


def _complete_outcome(configured: ConfiguredCase, outcome: Outcome) -> Outcome:
    """An outcome with the entries that it answers, marked where its runtime is newer than any that was tried.

    The gate asks for each entry of the configuration that a test case answers.
    """
    tried = (
        configured.bound_runtime.traits.built
        if configured.bound_runtime is not None and not configured.stands_in and outcome.state is not State.NOT_RUN
        else ""
    )
    is_new = bool(tried) and is_newer_minor(configured.case.version, tried)
    facts = {**outcome.facts, NEWER_THAN: tried} if is_new else outcome.facts
    return replace(outcome, entries=configured.entries, facts=facts)


def order_cases(cases: Sequence[ConfiguredCase]) -> list[ConfiguredCase]:
    """The longest first, for one that starts last keeps one CPU busy and the others idle; then each target in turn.

    Test cases of one target wait for each other: for a program that they share, for a machine that runs one at a time.
    """

    def rank(configured: ConfiguredCase) -> tuple[bool, bool]:
        row = scenario(configured.case.scenario)
        return not row.slow, bool(row.sample)

    groups: dict[tuple[tuple[bool, bool], Rid], list[ConfiguredCase]] = {}
    for configured in cases:
        groups.setdefault((rank(configured), configured.case.target), []).append(configured)
    places = {
        configured.case.id: (length, (number + 1) / len(group))
        for (length, _), group in groups.items()
        for number, configured in enumerate(group)
    }
    return sorted(cases, key=lambda configured: places[configured.case.id])


def _pinned(tool: Installer, wanted: str, python: Path) -> str:
    """A requirement pinned to the index's current version, so that a newer release is tried."""
    if "==" in wanted:
        return wanted
    try:
        return f"{re.split(r'[<>=!~; ]', wanted, maxsplit=1)[0]}=={tool.resolve(wanted, python)}"
    except NotRun:  # the test cases will report what is wrong with the index
        return wanted


def _outcome(run: VerifyRun, configured: ConfiguredCase) -> Outcome:
    case, log = configured.case, f"logs/{_safe(configured.case.id)}.log"
    try:
        if case.target in run.unusable and find_consumer(case.consumer).group != "files":
            raise run.unusable[case.target]
        machine, pythons = able(configured, run.chosen)
    except NotRun as error:
        return Outcome(case=case, state=State.NOT_RUN, reason=error.reason, summary=error.message)
    key = run.memory.key(case, [row.version for row in pythons], f"{machine.rid} {machine.title}")
    known = None if run.chosen.request.fresh else run.memory.recall(key)
    if known is not None:
        return replace(known, state=passed_at(machine.level), log=log)
    with run.places.get(machine.rid, nullcontext()), run.running.hold(case.id):
        started = time.monotonic()
        trial = _trial(run, configured, machine, pythons, run.chosen.folder / log)
        outcome = try_case(trial, find_run(case, scenario(case.scenario)))
    state = passed_at(machine.level) if outcome.state.is_pass else outcome.state
    outcome = replace(outcome, state=state, seconds=round(time.monotonic() - started, 2), log=log)
    _end_log(run.chosen.folder / log, outcome)
    LOG.say(_describe_end(outcome))
    run.memory.keep(outcome, key)
    return outcome


def _end_log(log: Path, outcome: Outcome) -> None:
    """Add the result to a test case's log, which has what programs printed; some test cases run none."""
    log.parent.mkdir(parents=True, exist_ok=True)
    text = outcome.reason if outcome.state is State.FAILED else outcome.summary
    with log.open("a", encoding="utf-8") as stream:
        stream.write(f"{outcome.state.value}{text and f': {text}'}\n")


def _describe_end(outcome: Outcome) -> str:
    """How a test case ended, in a line; why it did not pass is in the report, by cause."""
    is_told = outcome.summary and outcome.state.is_pass and LOG.level == "verbose"
    summary = f"{outcome.summary.splitlines()[0]}  " if is_told else ""
    return f"{outcome.state.value:8} {outcome.case.id}  {shorten(summary, _SUMMARY)}{outcome.seconds:.1f} s"


def _trial(
    run: VerifyRun, configured: ConfiguredCase, machine: Machine, pythons: tuple[Interpreter, ...], log: Path
) -> Trial:
    return Trial(
        case=configured.case,
        scenario=scenario(configured.case.scenario),
        config=run.config,
        bound_runtime=configured.bound_runtime,
        package=configured.package,
        oldest=configured.oldest,
        stands_in=configured.stands_in,
        artifacts=run.artifacts,
        supply=run.supply,
        work=run.chosen.folder / "work" / _safe(configured.case.id),
        log=log,
        machine=machine,
        interpreters=pythons,
    )


def _find_sdk(root: Path) -> str:
    """The versions of the SDK and Mono that build and run the consumers of nupkgs, as far as they are installed."""
    found = []
    with suppress(LatebindError):  # each test case that needs it reports it
        found.append(dotnet.sdk_version(os.environ, root))
    with suppress(LatebindError):
        found.append(mono.version(mono.find(os.environ), os.environ))
    return "\0".join(found)


def _describe_machine(chosen: ChosenCases) -> dict[str, str]:
    request = chosen.request
    share = {"share": "/".join(map(str, request.shard))} if request.shard != (1, 1) else {}
    emulated = {f"{rid} by": machine.title for rid, machine in request.machines.items() if rid in request.rids}
    own = find_emulator()
    return {
        **share,
        **emulated,
        "targets": " ".join(request.rids),
        "target": host_rid(),
        "system": platform.platform() + (f", run by {own}" if own else ""),
        "python": platform.python_version(),
    }


def _safe(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text)

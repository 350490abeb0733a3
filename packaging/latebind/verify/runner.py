"""The way of all test cases of a verification: chosen, tried in environments of their own, judged, and reported."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Semaphore
from typing import TYPE_CHECKING

from latebind.backend.targets import Rid
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.errors import NotRun
from latebind.model import Artifact, Outcome, State, passed_at
from latebind.preconditions import refuse_missing
from latebind.system.log import LOG
from latebind.system.parallel import Running, each
from latebind.system.run import check_limits
from latebind.text import plural, shorten
from latebind.verify.cases.scenarios import scenario
from latebind.verify.choose import ChosenCases, Request, able, choose_cases, describe_machine, order_cases
from latebind.verify.declared import find_consumer, find_run
from latebind.verify.packages import find_packages
from latebind.verify.report.data import NEWER_THAN, Provenance, Report, is_newer_minor, report_of
from latebind.verify.run.machine import unusable
from latebind.verify.run.remembered import Memory
from latebind.verify.run.shared import OF_THIS_RUN, Shared
from latebind.verify.run.trial import Trial, try_case

if TYPE_CHECKING:
    from latebind.verify.declared import ConfiguredCase

_SUMMARY = 200
"""Of a test case, in a line."""


def verify(project: Project, request: Request, folder: Path | None = None) -> Report:
    """Verify the packages of a folder, by default those of dist/, which are packed where they are out of date.

    Raises LatebindError for what cannot be verified, before minutes of building and packing.
    """
    chosen = choose_cases(project, request)
    refuse_missing(project.config.file, project.config.document.verify.list_scripts())
    artifacts, source = find_packages(project, request.rids, folder)
    return run_cases(project, chosen, artifacts, source)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What all test cases of one verification share."""

    config: Config
    chosen: ChosenCases
    artifacts: tuple[Artifact, ...]
    shared: Shared
    unusable: Mapping[Rid, NotRun]
    """Why machines cannot be used."""
    memory: Memory
    places: Mapping[Rid, AbstractContextManager[object]]
    """What a test case on a machine with `jobs` waits for, by target."""
    running: Running = field(default_factory=Running)
    began: float = field(default_factory=time.monotonic)
    starts: dict[str, float] = field(default_factory=dict)
    """When test cases began, by id: seconds from the begin of the run."""


def run_cases(project: Project, chosen: ChosenCases, artifacts: tuple[Artifact, ...], source: Provenance) -> Report:
    """Run every chosen test case that this machine can; the others are *not run*.

    Test cases that passed are remembered by the content of everything that they depend on.
    """
    run = _start(project, chosen, artifacts)
    number = plural(len(chosen.cases), "test case")
    with LOG.step(
        f"verifying {number}", f"verified {number}", run.running.describe, total=len(chosen.cases)
    ) as finished:
        ordered = order_cases(chosen.cases)
        outcomes = each(lambda one: _find_outcome(run, one), ordered, jobs=chosen.request.jobs, finished=finished)
    by_id = {outcome.case.id: outcome for outcome in outcomes}
    completed = [_complete_outcome(configured, by_id[configured.case.id]) for configured in chosen.cases]
    return report_of(source, artifacts, completed, describe_machine(chosen.request), run.starts)


def _start(project: Project, chosen: ChosenCases, artifacts: tuple[Artifact, ...]) -> _Run:
    """Pin requirements to the index's versions of now, and find out which machines can be used."""
    check_limits()
    config, folder, request = project.config, chosen.folder, chosen.request
    verify, python = config.document.verify, chosen.pythons[0].path
    pins = tuple(each(lambda requirement: chosen.tool.pin(requirement, python), verify.python_requires))
    shared = Shared(root=config.root, verify=verify, folder=folder / "supply", installer=chosen.tool, pins=pins)
    shared.folder.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(shared.folder / OF_THIS_RUN, ignore_errors=True)
    described = [machine for rid, machine in request.machines.items() if rid in request.rids]
    return _Run(
        config=config,
        chosen=chosen,
        artifacts=artifacts,
        shared=shared,
        unusable=unusable(described, folder / "home"),
        memory=Memory(project, folder / "passed", artifacts, pins),
        places={machine.rid: Semaphore(machine.jobs) for machine in described if machine.jobs},
    )


def _find_outcome(run: _Run, configured: ConfiguredCase) -> Outcome:
    """How a test case ends here, or ended before."""
    case = configured.case
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", case.id)
    log = f"logs/{name}.log"
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
    trial = Trial(
        configured=configured,
        scenario=scenario(case.scenario),
        config=run.config,
        artifacts=run.artifacts,
        shared=run.shared,
        work=run.chosen.folder / "work" / name,
        log=run.chosen.folder / log,
        machine=machine,
        interpreters=pythons,
    )
    with run.places.get(machine.rid, nullcontext()), run.running.hold(case.id):
        started = time.monotonic()
        run.starts[case.id] = round(started - run.began, 2)
        # The consumer makes the environment, runs the program in it, and judges what the program did (`run/judge.py`).
        outcome = try_case(trial, find_run(case, trial.scenario))
    state = passed_at(machine.level) if outcome.state.is_pass else outcome.state
    outcome = replace(outcome, state=state, seconds=round(time.monotonic() - started, 2), log=log)
    _end_log(trial.log, outcome)
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

"""Runs the cells of a verification in parallel, remembers what passed, and reports the outcomes."""

from __future__ import annotations

import os
import platform
import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from latebind.compilers import dotnet, mono
from latebind.errors import LatebindError, NotRun
from latebind.model import Artifact, Outcome, Rid, State
from latebind.plan import refuse_missing
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.system.run import check_limits
from latebind.tables.targets import host_rid
from latebind.text import plural
from latebind.verify.plan.machine import Machine, host_machine, unusable
from latebind.verify.plan.scenarios import FILES, scenario
from latebind.verify.planning import Options, able, plan_cells, prepare
from latebind.verify.report.report import NEWER_THAN, Provenance, Report, is_newer_minor, report_of
from latebind.verify.run.bench import Bench, tried
from latebind.verify.run.remembered import Memory
from latebind.verify.run.runner import find_runner
from latebind.verify.run.supply import Supply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.verify.plan.cells import PlannedCell
    from latebind.verify.plan.index import Answers, Question
    from latebind.verify.plan.installers import Installer
    from latebind.verify.plan.interpreters import Interpreter


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What all cells of one run share."""

    config: Config
    artifacts: tuple[Artifact, ...]
    supply: Supply
    folder: Path
    answers: Answers
    pythons: tuple[Interpreter, ...]
    machines: Mapping[Rid, Machine]
    unusable: Mapping[Rid, NotRun]
    """Why machines cannot be used."""
    memory: Memory
    fresh: bool


def verify(
    config: Config, artifacts: Sequence[Artifact], rids: Sequence[Rid], workdir: Path, options: Options
) -> Report:
    """Run every selected cell that this machine can; the others are *not run*.

    Cells that passed are remembered by the content of everything that they depend on.
    """
    folder = workdir / "build" / "verify"
    refuse_missing(config, sources=False)
    check_limits()
    tool, pythons = prepare(config, folder)
    pins = tuple(each(lambda wanted: _pinned(tool, wanted, pythons[0].path), config.document.verify.python_requires))
    supply = Supply(config=config, folder=folder / "supply", installer=tool, pins=pins)
    (folder / "supply").mkdir(exist_ok=True)
    cells, answers = plan_cells(config, rids, tool, options, pythons)
    run = _Run(
        config=config,
        artifacts=tuple(artifacts),
        supply=supply,
        folder=folder,
        answers=answers,
        pythons=pythons,
        machines={host_rid(): host_machine(pythons[0].path), **options.machines},
        unusable=unusable((row for rid, row in options.machines.items() if rid in rids), folder / "home"),
        memory=Memory(config, artifacts, workdir, (*pins, tool.name, _sdk(config))),
        fresh=options.fresh,
    )
    cases = plural(len(cells), "test case")
    with LOG.step(f"verifying {cases}", f"verified {cases}"):
        outcomes = each(lambda planned: _outcome(run, planned), _longest_first(cells), jobs=options.jobs)
    ended = {row.cell.id: row for row in outcomes}
    # The gate asks for each entry of the configuration that a cell answers.
    ordered = [_complete_outcome(planned, ended[planned.cell.id]) for planned in cells]
    project = config.project
    source = Provenance(project=project.name, version=project.version, commit=options.commit, date=options.date)
    return report_of(source, run.artifacts, ordered, _machine(supply, rids, options))


def _complete_outcome(planned: PlannedCell, outcome: Outcome) -> Outcome:
    """An outcome with the entries that it answers, marked where its runtime is newer than any that was tried."""
    tried = planned.use.known.built if planned.use is not None and outcome.state is not State.NOT_RUN else ""
    is_new = bool(tried) and is_newer_minor(planned.cell.version, tried)
    facts = {**outcome.facts, NEWER_THAN: tried} if is_new else outcome.facts
    return replace(outcome, entries=planned.entries, facts=facts)


def _longest_first(cells: Sequence[PlannedCell]) -> list[PlannedCell]:
    """A long cell that starts last would keep one CPU busy and the others idle."""

    def order(planned: PlannedCell) -> tuple[bool, bool]:
        row = scenario(planned.cell.scenario)
        return (not row.slow, bool(row.sample))

    return sorted(cells, key=order)


def _pinned(tool: Installer, wanted: str, python: Path) -> str:
    """A requirement pinned to the index's current version, so that a newer release is tried."""
    if "==" in wanted:
        return wanted
    try:
        return f"{re.split(r'[<>=!~; ]', wanted, maxsplit=1)[0]}=={tool.resolve(wanted, python)}"
    except NotRun:  # the cells will report what is wrong with the index
        return wanted


def _outcome(run: _Run, planned: PlannedCell) -> Outcome:
    cell = planned.cell
    started = time.monotonic()
    log = run.folder / "logs" / f"{_safe(cell.id)}.log"
    relative = log.relative_to(run.folder).as_posix()
    try:
        if cell.target in run.unusable and cell.consumer not in FILES:
            raise run.unusable[cell.target]
        machine, pythons = able(planned, run.answers, run.machines, run.pythons)
    except NotRun as error:
        return Outcome(cell=cell, state=State.NOT_RUN, reason=error.reason, summary=error.message)
    key = run.memory.key(planned, [row.version for row in pythons], f"{machine.rid} {machine.title}")
    known = None if run.fresh else run.memory.recall(cell, key)
    if known is not None:
        return replace(known, log=relative)
    outcome = tried(_bench(run, planned, machine, pythons, log), find_runner(cell, scenario(cell.scenario)))
    outcome = replace(outcome, seconds=round(time.monotonic() - started, 2), log=relative)
    LOG.say(f"{outcome.state.value:8} {cell.id}  {outcome.seconds:.1f} s")
    run.memory.keep(outcome, key)
    return outcome


def _bench(run: _Run, planned: PlannedCell, machine: Machine, pythons: tuple[Interpreter, ...], log: Path) -> Bench:
    return Bench(
        cell=planned.cell,
        config=run.config,
        use=planned.use,
        package=run.config.package_of(planned.use),
        oldest=_oldest(run, planned),
        artifacts=run.artifacts,
        supply=run.supply,
        work=run.folder / "work" / _safe(planned.cell.id),
        log=log,
        machine=machine,
        interpreters=pythons,
    )


def _oldest(run: _Run, planned: PlannedCell) -> str:
    if planned.question is None:
        return ""
    rows: dict[Question, tuple[str, ...]] = dict(run.answers.found)
    return next(iter(rows.get(replace(planned.question, entry="minimum"), ())), "")


def _sdk(config: Config) -> str:
    """The versions of the SDK and Mono that build and run the consumers of nupkgs, if they are installed."""
    found = []
    if config.document.verify.dotnet:
        with suppress(LatebindError):  # each cell that needs it reports it
            found.append(dotnet.sdk_version(os.environ, config.root))
        with suppress(LatebindError):
            found.append(mono.version(mono.find(os.environ), os.environ))
    return "\0".join(found)


def _machine(supply: Supply, rids: Sequence[Rid], options: Options) -> dict[str, str]:
    share = {"share": "/".join(map(str, options.shard))} if options.shard != (1, 1) else {}
    emulated = {f"{rid} by": machine.title for rid, machine in options.machines.items() if rid in rids}
    return {
        **share,
        **emulated,
        "targets": " ".join(rids),
        "target": host_rid(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "installer": supply.installer.name,
    }


def _safe(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text)

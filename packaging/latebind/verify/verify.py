"""Expands the cells, runs them in parallel, remembers what passed, and gathers the outcomes."""

from __future__ import annotations

import os
import platform
import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from latebind.errors import LatebindError, NotRun
from latebind.model import Artifact, Outcome, Rid, State
from latebind.nuget import dotnet, mono
from latebind.plan import refuse_missing
from latebind.system.limits import end_marked
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.system.run import check_limits
from latebind.tables.targets import host_rid
from latebind.verify.plan.machine import Machine, host_machine
from latebind.verify.plan.reach import silent
from latebind.verify.plan.scenarios import FILES, scenario
from latebind.verify.planning import Options, able, plan_cells, prepare
from latebind.verify.run.bench import Bench
from latebind.verify.run.remembered import Memory
from latebind.verify.run.supply import Supply
from latebind.verify.run.trial import tried

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.verify.plan.cells import Planned
    from latebind.verify.plan.installers import Installer
    from latebind.verify.plan.interpreters import Interpreter
    from latebind.verify.plan.versions import Answers, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """All outcomes in the order of the cells, and the machine that they were reached on."""

    artifacts: tuple[Artifact, ...]
    outcomes: tuple[Outcome, ...]
    machine: Mapping[str, str]


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
    silent: Mapping[Rid, NotRun]
    """Why machines are none that could be used."""
    memory: Memory
    fresh: bool


def verify(
    config: Config, artifacts: Sequence[Artifact], rids: Sequence[Rid], workdir: Path, options: Options
) -> Verified:
    """Run every cell of the targets that this machine can; the others are *not run*.

    Outcomes of cells that passed are remembered by the content of all that they depend on.
    """
    folder = workdir / "build" / "verify"
    refuse_missing(config, sources=False)
    check_limits()
    end_marked(folder / "work")  # what a run that was killed left running
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
        silent=silent((row for rid, row in options.machines.items() if rid in rids), folder / "home"),
        memory=Memory(config, artifacts, workdir, (*pins, tool.name, _sdk(config))),
        fresh=options.fresh,
    )
    outcomes = tuple(each(lambda planned: _noted(run, planned), _longest_first(cells), jobs=options.jobs))
    place = {planned.cell.id: number for number, planned in enumerate(cells)}
    ordered = sorted(outcomes, key=lambda row: place[row.cell.id])
    return Verified(artifacts=run.artifacts, outcomes=tuple(ordered), machine=_machine(supply, rids, options))


def _longest_first(cells: Sequence[Planned]) -> list[Planned]:
    """A long cell that begins last would keep one processor busy and the others idle."""
    slow = ("frozen", "beside-gpu")
    return sorted(cells, key=lambda row: (row.cell.scenario not in slow, bool(scenario(row.cell.scenario).sample)))


def _pinned(tool: Installer, wanted: str, python: Path) -> str:
    """A requirement at the version that the index has now, so that a newer one is tried."""
    if "==" in wanted:
        return wanted
    try:
        return f"{re.split(r'[<>=!~; ]', wanted, maxsplit=1)[0]}=={tool.resolve(wanted, python)}"
    except NotRun:  # the cells will say what is wrong with the index
        return wanted


def _noted(run: _Run, planned: Planned) -> Outcome:
    """The outcome with the entries of the configuration that it answers: the gate asks for each of them."""
    return replace(_outcome(run, planned), entries=planned.entries)


def _outcome(run: _Run, planned: Planned) -> Outcome:
    cell = planned.cell
    started = time.monotonic()
    log = run.folder / "logs" / f"{_safe(cell.id)}.log"
    try:
        if cell.target in run.silent and cell.consumer not in FILES:
            raise run.silent[cell.target]
        machine, pythons = able(planned, run.answers, run.machines, run.pythons)
    except NotRun as error:
        return Outcome(cell=cell, state=State.NOT_RUN, reason=error.reason, summary=error.message)
    key = run.memory.key(planned, [row.version for row in pythons], f"{machine.rid} {machine.title}")
    known = None if run.fresh else run.memory.recall(cell, key)
    if known is not None:
        return replace(known, log=_relative(log, run))
    bench = _bench(run, planned, machine, pythons, log)
    outcome = tried(bench)
    outcome = replace(outcome, seconds=round(time.monotonic() - started, 2), log=_relative(log, run))
    LOG.say(f"{outcome.state.value:8} {cell.id}  {outcome.seconds:.1f} s")
    run.memory.keep(outcome, key)
    return outcome


def _bench(run: _Run, planned: Planned, machine: Machine, pythons: tuple[Interpreter, ...], log: Path) -> Bench:
    return Bench(
        cell=planned.cell,
        config=run.config,
        use=planned.use,
        package=run.config.package_of(planned.use),
        entry=planned.entry,
        oldest=_oldest(run, planned),
        artifacts=run.artifacts,
        supply=run.supply,
        work=run.folder / "work" / _safe(planned.cell.id),
        log=log,
        machine=machine,
        interpreters=pythons,
    )


def _oldest(run: _Run, planned: Planned) -> str:
    if planned.question is None:
        return ""
    rows: dict[Question, tuple[str, ...]] = dict(run.answers.found)
    return next(iter(rows.get(replace(planned.question, entry="minimum"), ())), "")


def _sdk(config: Config) -> str:
    """The SDK and Mono that the consumers of nupkgs are made and run by, as far as they are here."""
    found = []
    if config.document.verify.dotnet:
        with suppress(LatebindError):  # each cell that needs it says so
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


def _relative(log: Path, run: _Run) -> str:
    return log.relative_to(run.folder).as_posix()

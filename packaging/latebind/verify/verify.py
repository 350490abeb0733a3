"""Expands the cells, runs them in parallel, remembers what passed, and gathers the outcomes."""

from __future__ import annotations

import os
import platform
import re
import shutil
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from latebind.errors import InputError, LatebindError, NotRun
from latebind.log import LOG
from latebind.model import Artifact, Outcome, Rid, State
from latebind.nuget import dotnet
from latebind.parallel import each
from latebind.targets import host_rid
from latebind.verify.cell import Bench
from latebind.verify.cells import Planned, Scope, expand, questions
from latebind.verify.environments import Installer, installer
from latebind.verify.interpreters import Interpreter, interpreters, own_interpreter
from latebind.verify.machine import Machine, host_machine
from latebind.verify.remembered import Memory
from latebind.verify.runners import runner
from latebind.verify.scenarios import FILES, scenario
from latebind.verify.select import selector
from latebind.verify.select import shard as share
from latebind.verify.stage import StageError
from latebind.verify.supply import Supply
from latebind.verify.unprivileged import unlock
from latebind.verify.versions import Answers, Question, ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.config import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What of all the cells is run, and how."""

    everything: bool = False
    """Each minor version of the runtimes, their other distributions, every CPython."""
    select: str = ""
    """An expression over cells (`select.py`)."""
    shard: tuple[int, int] = (1, 1)
    """The share that is run, and of how many."""
    jobs: int = 0
    """How many cells run at once, by default one for each processor."""
    fresh: bool = False
    """Run cells again that passed before."""
    machines: Mapping[Rid, Machine] = field(default_factory=dict)
    """What runs the programs of other targets here."""


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
    memory: Memory
    fresh: bool


def plan_cells(
    config: Config, rids: Sequence[Rid], tool: Installer, options: Options, pythons: Sequence[Interpreter]
) -> tuple[tuple[Planned, ...], Answers]:
    """The cells that the options are about, and what the index said.

    Raises InputError when there is none, or the selection cannot be read.
    """
    chosen = selector(options.select) if options.select else None
    own = pythons[0]
    scope = Scope(
        everything=options.everything,
        pythons={rid: _minor(options.machines.get(rid)) or own.minor for rid in rids},
        others=tuple(minor for minor in config.document.verify.pythons if minor != own.minor),
        home=host_rid(),
    )
    answers = ask(questions(config, tuple(rids), scope), tool, own.path, options.jobs)
    cells = [planned for rid in rids for planned in expand(config, rid, scope, answers)]
    if not cells:
        raise InputError(
            "there is nothing to verify", where=config.file.name, advice="Set verify.python or verify.dotnet."
        )
    mine = {cell.id for cell in share((planned.cell for planned in cells), *options.shard)}
    left = tuple(row for row in cells if row.cell.id in mine and (chosen is None or chosen(row.cell)))
    if not left and options.shard == (1, 1):
        raise InputError(
            f"no cell is meant by {options.select!r}", where="-k", advice="See all of them: latebind verify --list."
        )
    return left, answers


def listed(config: Config, rids: Sequence[Rid], workdir: Path, options: Options) -> str:
    """The cells one a line, each that would not be run with its reason, and how many there are."""
    tool, pythons = prepare(config, workdir / "build" / "verify")
    cells, answers = plan_cells(config, rids, tool, options, pythons)
    machines = {host_rid(): host_machine(pythons[0].path), **options.machines}
    lines, count = [], 0
    for planned in cells:
        try:
            _able(planned, answers, machines, pythons)
            lines.append(planned.cell.id)
        except NotRun as error:
            lines.append(f"{planned.cell.id}  not run: {error.reason}")
            count += 1
    return "\n".join([*lines, f"{len(cells)} cells, {count} of them would not be run here"])


def _minor(machine: Machine | None) -> str:
    return ".".join(machine.python_version.split(".")[:2]) if machine else ""


def prepare(config: Config, folder: Path) -> tuple[Installer, tuple[Interpreter, ...]]:
    """What cells are planned with: an installer, and the CPythons that are here. The first is the ordinary one."""
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    own = own_interpreter()
    minors = dict.fromkeys((own.minor, *config.document.verify.pythons))
    found = interpreters(tuple(minors))
    return installer(home), (own, *(row for row in found if row.path != own.path))


def verify(
    config: Config, artifacts: Sequence[Artifact], rids: Sequence[Rid], workdir: Path, options: Options
) -> Verified:
    """Run every cell of the targets that this machine can; the others are *not run*.

    Outcomes of cells that passed are remembered by the content of all that they depend on.
    """
    folder = workdir / "build" / "verify"
    _check_scripts(config)
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
        memory=Memory(config, artifacts, folder / "passed", (*pins, tool.name, _sdk(config))),
        fresh=options.fresh,
    )
    outcomes = tuple(each(lambda planned: _outcome(run, planned), _longest_first(cells), jobs=options.jobs))
    place = {planned.cell.id: number for number, planned in enumerate(cells)}
    ordered = sorted(outcomes, key=lambda row: place[row.cell.id])
    return Verified(artifacts=run.artifacts, outcomes=tuple(ordered), machine=_machine(supply, rids, options))


def _longest_first(cells: Sequence[Planned]) -> list[Planned]:
    """A long cell that begins last would keep one processor busy and the others idle."""
    slow = ("frozen", "beside-gpu")
    return sorted(cells, key=lambda row: (row.cell.scenario not in slow, bool(scenario(row.cell.scenario).sample)))


def _check_scripts(config: Config) -> None:
    """Every script and folder that [verify] names must be there before anything is installed for it."""
    verify = config.document.verify
    named = {"python": verify.python, "reference": verify.reference, "dotnet": verify.dotnet, "c": verify.c}
    named["data.script"] = verify.data.script if verify.data else ""
    missing = [f"verify.{key} = {name}" for key, name in named.items() if name and not (config.root / name).exists()]
    if missing:
        raise InputError(f"not there: {', '.join(missing)}", where=config.file.name, advice="Mend or remove the key.")


def _pinned(tool: Installer, wanted: str, python: Path) -> str:
    """A requirement at the version that the index has now, so that a newer one is tried."""
    if "==" in wanted:
        return wanted
    try:
        return f"{re.split(r'[<>=!~; ]', wanted, maxsplit=1)[0]}=={tool.resolve(wanted, python)}"
    except NotRun:  # the cells will say what is wrong with the index
        return wanted


def _outcome(run: _Run, planned: Planned) -> Outcome:
    cell = planned.cell
    started = time.monotonic()
    log = run.folder / "logs" / f"{_safe(cell.id)}.log"
    try:
        machine, pythons = _able(planned, run.answers, run.machines, run.pythons)
    except NotRun as error:
        return Outcome(cell=cell, state=State.NOT_RUN, reason=error.reason, summary=error.message)
    key = run.memory.key(planned, [row.version for row in pythons], f"{machine.rid} {machine.title}")
    known = None if run.fresh else run.memory.recall(cell, key)
    if known is not None:
        return replace(known, log=_relative(log, run))
    outcome = _tried(run, planned, machine, pythons, log)
    outcome = replace(outcome, seconds=round(time.monotonic() - started, 2), log=_relative(log, run))
    LOG.progress(f"{outcome.state.value:8} {cell.id}  {outcome.seconds:.1f} s")
    run.memory.keep(outcome, key)
    return outcome


def _able(
    planned: Planned, answers: Answers, machines: Mapping[Rid, Machine], installed: Sequence[Interpreter]
) -> tuple[Machine, tuple[Interpreter, ...]]:
    """The machine and the interpreters of a cell. Raises NotRun when one of them, or the runtime, is not to be had."""
    cell, question = planned.cell, planned.question
    if question is not None and question in answers.trouble:
        raise answers.trouble[question]
    machine = machines[host_rid()] if cell.consumer in FILES else machines.get(cell.target)
    if machine is None:
        raise NotRun("no-machine", f"this machine is {host_rid()}")
    if not machine.is_host and cell.kind == "nupkg":
        raise NotRun("not-emulated", "applications of .NET and C are built and run by the machine itself")
    if not machine.is_host or cell.kind == "nupkg":
        return machine, tuple(installed[:1])
    pythons = tuple(row for row in installed if row.minor == planned.python)
    if not pythons:
        raise NotRun("no-interpreter", f"CPython {planned.python} is not installed here")
    return machine, pythons


def _tried(run: _Run, planned: Planned, machine: Machine, pythons: tuple[Interpreter, ...], log: Path) -> Outcome:
    cell = planned.cell
    work = run.folder / "work" / _safe(cell.id)
    _remove(work)
    work.mkdir(parents=True)
    log.unlink(missing_ok=True)
    binding = (name for name in run.config.packages if run.config.runtime_of(name) == planned.use)
    bench = Bench(
        cell=cell,
        config=run.config,
        use=planned.use,
        package=next(binding, next(iter(run.config.packages))),
        entry=planned.entry,
        oldest=_oldest(run, planned),
        artifacts=run.artifacts,
        supply=run.supply,
        work=work,
        log=log,
        machine=machine,
        interpreters=pythons,
    )
    try:
        outcome = runner(cell)(bench)
    except NotRun as error:
        return Outcome(cell=cell, state=State.NOT_RUN, reason=error.reason, summary=error.message)
    except LatebindError as error:
        stage = error.stage if isinstance(error, StageError) else "prepare"
        return Outcome(cell=cell, state=State.FAILED, reason=str(error), facts={"stage": stage})
    if outcome.state is not State.FAILED:
        _remove(work)
    return outcome


def _oldest(run: _Run, planned: Planned) -> str:
    if planned.question is None:
        return ""
    rows: dict[Question, tuple[str, ...]] = dict(run.answers.found)
    return next(iter(rows.get(replace(planned.question, entry="minimum"), ())), "")


def _remove(work: Path) -> None:
    if work.is_dir():
        unlock(work)
        shutil.rmtree(work, ignore_errors=True)


def _sdk(config: Config) -> str:
    if not config.document.verify.dotnet:
        return ""
    try:
        return dotnet.sdk_version(os.environ, config.root)
    except LatebindError:  # each cell that needs it says so
        return ""


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

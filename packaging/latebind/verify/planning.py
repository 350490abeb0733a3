"""Which cells a run is about, and which of them this machine can run; asks the index and starts no cell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from latebind.errors import InputError, NotRun
from latebind.tables.targets import host_rid
from latebind.verify.plan.cells import Planned, Scope, expand, questions
from latebind.verify.plan.installers import Installer, installer
from latebind.verify.plan.interpreters import Interpreter, interpreters, own_interpreter
from latebind.verify.plan.machine import Machine, host_machine
from latebind.verify.plan.scenarios import FILES, SCENARIOS
from latebind.verify.plan.select import selector
from latebind.verify.plan.select import shard as share
from latebind.verify.plan.versions import Answers, ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.model import Rid


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


def plan_cells(
    config: Config, rids: Sequence[Rid], tool: Installer, options: Options, pythons: Sequence[Interpreter]
) -> tuple[tuple[Planned, ...], Answers]:
    """The cells that the options are about, and what the index said.

    Raises InputError when there is none, or the selection cannot be read.
    """
    _check_scenarios(config)
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
            "there is nothing to verify", where=config.file.name, advice="Set verify.python, verify.dotnet or verify.c."
        )
    mine = {cell.id for cell in share((planned.cell for planned in cells), *options.shard)}
    left = tuple(row for row in cells if row.cell.id in mine and (chosen is None or chosen(row.cell)))
    if not left and options.shard == (1, 1):
        raise InputError(
            f"no cell is meant by {options.select!r}", where="-k", advice="See all of them: latebind verify --list."
        )
    return left, answers


def _check_scenarios(config: Config) -> None:
    known = {row.name for row in SCENARIOS}
    for runtime, own in config.document.verify.own.items():
        for name in set(own.scenarios) - known:
            raise InputError(
                f"verify.own.{runtime}.scenarios: {name!r} is not a scenario",
                where=config.file.name,
                advice=f"Use one of: {', '.join(sorted(known))}.",
            )


def listed(config: Config, rids: Sequence[Rid], workdir: Path, options: Options) -> str:
    """The cells one a line, each that would not be run with its reason, and how many there are."""
    tool, pythons = prepare(config, workdir / "build" / "verify")
    cells, answers = plan_cells(config, rids, tool, options, pythons)
    machines = {host_rid(): host_machine(pythons[0].path), **options.machines}
    lines, count = [], 0
    for planned in cells:
        try:
            able(planned, answers, machines, pythons)
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


def able(
    planned: Planned, answers: Answers, machines: Mapping[Rid, Machine], installed: Sequence[Interpreter]
) -> tuple[Machine, tuple[Interpreter, ...]]:
    """The machine and the interpreters of a cell. Raises NotRun when one of them, or the runtime, is not to be had."""
    cell, question = planned.cell, planned.question
    if question is not None and question in answers.trouble:
        raise answers.trouble[question]
    machine = machines[host_rid()] if cell.consumer in FILES else machines.get(cell.target)
    if machine is None:
        raise NotRun("no-machine", f"this machine is {host_rid()}")
    if not machine.is_host and planned.native_only:
        raise NotRun(
            "not-emulated", f"{planned.cell.runtime or 'this'} is too slow there: [verify.own] says native_only"
        )
    if not machine.is_host and cell.kind == "nupkg":
        raise NotRun("not-emulated", "applications of .NET and C are built and run by the machine itself")
    if not machine.is_host or cell.kind == "nupkg":
        return machine, tuple(installed[:1])
    pythons = tuple(row for row in installed if row.minor == planned.python)
    if not pythons:
        raise NotRun("no-interpreter", f"CPython {planned.python} is not installed here")
    return machine, pythons

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
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.system.run import check_limits
from latebind.tables.targets import host_rid
from latebind.text import plural
from latebind.verify.plan.machine import Machine, unusable
from latebind.verify.plan.scenarios import FILES, scenario
from latebind.verify.planning import Plan, able
from latebind.verify.report.report import NEWER_THAN, Provenance, Report, is_newer_minor, report_of
from latebind.verify.run.bench import Bench, tried
from latebind.verify.run.remembered import Memory
from latebind.verify.run.runner import find_runner
from latebind.verify.run.supply import Supply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.config.project import Project
    from latebind.verify.plan.cells import PlannedCell
    from latebind.verify.plan.installers import Installer
    from latebind.verify.plan.interpreters import Interpreter


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyRun:
    """What all cells of one run share."""

    config: Config
    plan: Plan
    artifacts: tuple[Artifact, ...]
    supply: Supply
    folder: Path
    unusable: Mapping[Rid, NotRun]
    """Why machines cannot be used."""
    memory: Memory


def start_run(project: Project, plan: Plan, artifacts: Sequence[Artifact]) -> VerifyRun:
    """Pin requirements to the index's versions of now, and find out which machines can be used."""
    check_limits()
    config, folder, request = project.config, project.workdir / "build" / "verify", plan.request
    verify, python = config.document.verify, plan.pythons[0].path
    pins = tuple(each(lambda wanted: _pinned(plan.tool, wanted, python), verify.python_requires))
    supply = Supply(config=config, folder=folder / "supply", installer=plan.tool, pins=pins)
    supply.folder.mkdir(parents=True, exist_ok=True)
    described = (machine for rid, machine in request.machines.items() if rid in request.rids)
    sdk = _find_sdk(config.root) if verify.dotnet else ""
    return VerifyRun(
        config=config,
        plan=plan,
        artifacts=tuple(artifacts),
        supply=supply,
        folder=folder,
        unusable=unusable(described, folder / "home"),
        memory=Memory(project, artifacts, (*pins, plan.tool.name, sdk)),
    )


def verify(run: VerifyRun, source: Provenance) -> Report:
    """Run every planned cell that this machine can; the others are *not run*.

    Cells that passed are remembered by the content of everything that they depend on.
    """
    cells = run.plan.cells
    cases = plural(len(cells), "test case")
    with LOG.step(f"verifying {cases}", f"verified {cases}"):
        outcomes = each(lambda planned: _outcome(run, planned), _longest_first(cells), jobs=run.plan.request.jobs)
    ended = {row.cell.id: row for row in outcomes}
    # The gate asks for each entry of the configuration that a cell answers.
    ordered = [_complete_outcome(planned, ended[planned.cell.id]) for planned in cells]
    return report_of(source, run.artifacts, ordered, _describe_machine(run.plan))


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


def _outcome(run: VerifyRun, planned: PlannedCell) -> Outcome:
    cell = planned.cell
    started = time.monotonic()
    log = run.folder / "logs" / f"{_safe(cell.id)}.log"
    relative = log.relative_to(run.folder).as_posix()
    try:
        if cell.target in run.unusable and cell.consumer not in FILES:
            raise run.unusable[cell.target]
        machine, pythons = able(planned, run.plan)
    except NotRun as error:
        return Outcome(cell=cell, state=State.NOT_RUN, reason=error.reason, summary=error.message)
    key = run.memory.key(planned, [row.version for row in pythons], f"{machine.rid} {machine.title}")
    known = None if run.plan.request.fresh else run.memory.recall(cell, key)
    if known is not None:
        return replace(known, log=relative)
    outcome = tried(_bench(run, planned, machine, pythons, log), find_runner(cell, scenario(cell.scenario)))
    outcome = replace(outcome, seconds=round(time.monotonic() - started, 2), log=relative)
    LOG.say(f"{outcome.state.value:8} {cell.id}  {outcome.seconds:.1f} s")
    run.memory.keep(outcome, key)
    return outcome


def _bench(
    run: VerifyRun, planned: PlannedCell, machine: Machine, pythons: tuple[Interpreter, ...], log: Path
) -> Bench:
    return Bench(
        cell=planned.cell,
        config=run.config,
        use=planned.use,
        package=planned.package,
        oldest=run.plan.answers.find_oldest(planned.question),
        artifacts=run.artifacts,
        supply=run.supply,
        work=run.folder / "work" / _safe(planned.cell.id),
        log=log,
        machine=machine,
        interpreters=pythons,
    )


def _find_sdk(root: Path) -> str:
    """The versions of the SDK and Mono that build and run the consumers of nupkgs, as far as they are installed."""
    found = []
    with suppress(LatebindError):  # each cell that needs it reports it
        found.append(dotnet.sdk_version(os.environ, root))
    with suppress(LatebindError):
        found.append(mono.version(mono.find(os.environ), os.environ))
    return "\0".join(found)


def _describe_machine(plan: Plan) -> dict[str, str]:
    request = plan.request
    share = {"share": "/".join(map(str, request.shard))} if request.shard != (1, 1) else {}
    emulated = {f"{rid} by": machine.title for rid, machine in request.machines.items() if rid in request.rids}
    return {
        **share,
        **emulated,
        "targets": " ".join(request.rids),
        "target": host_rid(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "installer": plan.tool.name,
    }


def _safe(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text)

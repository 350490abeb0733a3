"""Expands the cells, runs them in parallel, remembers what passed, and gathers the outcomes."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from latebind.archive import sha256, write_text
from latebind.errors import InputError, LatebindError, NotRun
from latebind.log import LOG
from latebind.model import Artifact, Cell, Outcome, Rid, State
from latebind.nuget import dotnet
from latebind.parallel import each
from latebind.targets import host_rid
from latebind.tree import hash_file, hash_tree
from latebind.verify.c import run_c_cell
from latebind.verify.cell import Bench
from latebind.verify.cells import BELOW_FLOOR, C_NUPKG, Planned, entries, expand, requirement, scenario
from latebind.verify.dotnet import run_dotnet_cell
from latebind.verify.environments import Installer, installer
from latebind.verify.layouts import ANYWHERE
from latebind.verify.python import run_python_cell
from latebind.verify.supply import Supply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from latebind.config import Config


_Key = tuple[str, str]
"""(runtime, entry of [verify].runtimes)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """All outcomes in the order of the cells, and the machine that they were reached on."""

    artifacts: tuple[Artifact, ...]
    outcomes: tuple[Outcome, ...]
    machine: Mapping[str, str]

    @property
    def exit_status(self) -> int:
        """1 when a cell failed or none loaded and computed anything, else 0: refusing alone proves little."""
        failed = any(outcome.state is State.FAILED for outcome in self.outcomes)
        works = (row for row in self.outcomes if _computes(row.cell))
        return int(failed or not any(outcome.state is State.PASSED for outcome in works))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """What all cells of one run share."""

    config: Config
    artifacts: tuple[Artifact, ...]
    supply: Supply
    folder: Path
    python: Path
    sdk: str
    """The version of the .NET SDK, "" without one."""
    fresh: bool


def verify(  # noqa: PLR0913  # what, for which target, where, how many at once, whether to trust the past
    config: Config,
    artifacts: Sequence[Artifact],
    rids: Sequence[Rid],
    workdir: Path,
    *,
    jobs: int = 0,
    fresh: bool = False,
) -> Verified:
    """Run every cell of the targets on this machine; those of other machines' targets are *not run*.

    Outcomes of cells that passed are remembered by the content of all that they depend on; `fresh` forgets them.
    `jobs` is how many cells run at once, by default one for each processor.
    """
    folder = workdir / "build" / "verify"
    home = folder / "home"
    home.mkdir(parents=True, exist_ok=True)
    _check_scripts(config)
    tool, python = installer(home), _interpreter()
    pins = tuple(each(lambda wanted: _pinned(tool, wanted, python), config.document.verify.python_requires))
    supply = Supply(config=config, folder=folder / "supply", installer=tool, pins=pins)
    (folder / "supply").mkdir(exist_ok=True)
    run = _Run(
        config=config,
        artifacts=tuple(artifacts),
        supply=supply,
        folder=folder,
        python=python,
        sdk=_sdk(config),
        fresh=fresh,
    )
    versions, trouble = _versions(config, run)
    consumer = f"python{sys.version_info.major}.{sys.version_info.minor}"
    cells = [planned for rid in rids for planned in expand(config, rid, consumer, versions)]
    if not cells:
        raise InputError(
            "there is nothing to verify", where=config.file.name, advice="Set verify.python or verify.dotnet."
        )
    outcomes = tuple(each(lambda planned: _outcome(run, planned, trouble), cells, jobs=jobs))
    return Verified(artifacts=run.artifacts, outcomes=outcomes, machine=_machine(supply))


def _computes(cell: Cell) -> bool:
    row = scenario(cell.scenario)
    return row.computes and not row.negative


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


def _versions(config: Config, run: _Run) -> tuple[dict[_Key, str], dict[_Key, NotRun]]:
    """The version that the index has for each configured entry, and why it has none for the others."""
    found: dict[_Key, str] = {}
    trouble: dict[_Key, NotRun] = {}
    for use in config.document.runtime:
        for entry in (*entries(config, use), BELOW_FLOOR):
            try:
                found[use.preset, entry] = run.supply.installer.resolve(requirement(entry, use), run.python)
            except NotRun as error:
                trouble[use.preset, entry] = error
    return found, trouble


def _outcome(run: _Run, planned: Planned, trouble: Mapping[_Key, NotRun]) -> Outcome:
    cell = planned.cell
    started = time.monotonic()
    log = run.folder / "logs" / f"{_safe(cell.id)}.log"
    error = trouble.get((planned.use.preset, planned.asked)) if planned.use else None
    if error is not None:
        return Outcome(cell=cell, state=State.NOT_RUN, reason=error.reason, summary=str(error))
    if cell.target != host_rid() and cell.consumer not in ANYWHERE:
        return Outcome(cell=cell, state=State.NOT_RUN, reason="no-machine", summary=f"this machine is {host_rid()}")
    memory = run.folder / "passed" / f"{_key(run, planned)}.json"
    known = None if run.fresh else _remembered(cell, memory)
    if known is not None:
        return replace(known, log=_relative(log, run))
    outcome = _tried(run, planned, log)
    outcome = replace(outcome, seconds=round(time.monotonic() - started, 2), log=_relative(log, run))
    LOG.progress(f"{outcome.state.value:8} {cell.id}  {outcome.seconds:.1f} s")
    if outcome.state is State.PASSED:
        text = {"summary": outcome.summary, "seconds": outcome.seconds, "facts": dict(outcome.facts)}
        write_text(memory, json.dumps(text))
    return outcome


def _tried(run: _Run, planned: Planned, log: Path) -> Outcome:
    cell = planned.cell
    work = run.folder / "work" / _safe(cell.id)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    log.unlink(missing_ok=True)
    binding = (name for name in run.config.packages if run.config.runtime_of(name) == planned.use)
    bench = Bench(
        cell=cell,
        config=run.config,
        use=planned.use,
        package=next(binding, next(iter(run.config.packages))),
        entry=planned.entry,
        artifacts=run.artifacts,
        supply=run.supply,
        work=work,
        log=log,
        python=run.python,
    )
    try:
        outcome = _runner(cell)(bench)
    except NotRun as error:
        return Outcome(cell=cell, state=State.NOT_RUN, reason=error.reason, summary=str(error))
    except LatebindError as error:
        return Outcome(cell=cell, state=State.FAILED, reason=str(error))
    if outcome.state is State.PASSED:
        shutil.rmtree(work, ignore_errors=True)
    return outcome


def _runner(cell: Cell) -> Callable[[Bench], Outcome]:
    if cell.kind == "wheel":
        return run_python_cell
    return run_c_cell if cell.consumer == C_NUPKG else run_dotnet_cell


def _key(run: _Run, planned: Planned) -> str:
    """A hash of everything that decides how the cell ends."""
    cell = planned.cell
    verify = run.config.document.verify
    scripts = [verify.python, verify.reference, verify.data.script if verify.data else ""]
    folders = {(run.config.root / script).parent for script in scripts if script}
    if cell.kind == "nupkg":
        folders |= {run.config.root / name for name in (verify.dotnet, verify.c) if name}
    parts = [
        cell.id,
        *sorted(artifact.sha256 for artifact in run.artifacts if artifact.kind == cell.kind),
        *(_consumer_hash(run, folder) for folder in sorted(folders)),
        *run.supply.pins,
        json.dumps(msgspec.to_builtins([verify, run.config.document.runtime]), sort_keys=True),
        planned.entry,
        run.sdk if cell.kind == "nupkg" else sys.version,
        run.supply.installer.name,
        *(sha256(path) for path in sorted(Path(__file__).parent.glob("*.py"))),
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _consumer_hash(run: _Run, folder: Path) -> str:
    """A hash of a folder that holds a consumer's script: it may read what lies beside it.

    Of the project's own folder only the files count, not what is built below it.
    """
    if folder.resolve() == run.config.root.resolve():
        return "".join(hash_file(path) for path in sorted(folder.iterdir()) if path.is_file())
    return hash_tree(folder, without=frozenset({"bin", "obj"}))


class _Passed(msgspec.Struct, frozen=True):
    """What is kept of a cell that passed."""

    summary: str
    seconds: float
    facts: dict[str, Any]


def _remembered(cell: Cell, memory: Path) -> Outcome | None:
    """The outcome of an earlier run; None when there is none, or none that can be read."""
    try:
        known = msgspec.json.decode(memory.read_bytes(), type=_Passed)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return Outcome(
        cell=cell, state=State.PASSED, summary=known.summary, seconds=known.seconds, facts=known.facts, cached=True
    )


def _sdk(config: Config) -> str:
    if not config.document.verify.dotnet:
        return ""
    try:
        return dotnet.sdk_version(os.environ, config.root)
    except LatebindError:  # each cell that needs it says so
        return ""


def _interpreter() -> Path:
    """The Python that this environment was made from: environments for cells must not hang on ours."""
    return Path(getattr(sys, "_base_executable", "") or sys.executable)


def _machine(supply: Supply) -> dict[str, str]:
    return {
        "target": host_rid(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "installer": supply.installer.name,
    }


def _safe(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text)


def _relative(log: Path, run: _Run) -> str:
    return log.relative_to(run.folder).as_posix()

"""Says what a project's dist/ lacks or has out of date, without building or packing anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.build.commit import source_commit
from latebind.build.stage import open_stage
from latebind.config.project import Project
from latebind.errors import LatebindError, NotRun
from latebind.pack.pack import hash_package, start_run
from latebind.pack.planned import plan_packages
from latebind.pack.record import Ledger

if TYPE_CHECKING:
    from latebind.ecosystems.ecosystem import PackRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Present:
    """What `latebind pack` has put into dist/."""

    targets: tuple[str, ...] = ()
    """The targets that were packed; () where this working folder has packed nothing."""
    missing: tuple[str, ...] = ()
    """The other targets of the project."""
    outdated: tuple[str, ...] = ()
    """Packages that packing would make again, by their names in the ledger, such as `wheel tiny linux-x64`."""


def inspect_dist(project: Project) -> Present:
    """Compare dist/ with what packing the same targets again would make.

    What a missing tool, such as the .NET SDK, keeps from being compared counts as current.
    """
    ledger, include = Ledger(project.dist), project.config.document.targets.include
    targets = tuple(rid for rid in include if rid in ledger.record.targets)
    if not targets:
        return Present()
    stages = [stage for rid in targets if (stage := open_stage(project.workdir / "stage" / rid)) is not None]
    return Present(
        targets=targets,
        missing=tuple(rid for rid in include if rid not in targets),
        outdated=tuple(
            _list_outdated(ledger, start_run(project, stages, project.dist, source_commit(project.config.file)))
        ),
    )


def _list_outdated(ledger: Ledger, run: PackRun) -> list[str]:
    try:
        plan = plan_packages(run.config, [stage.rid for stage in run.stages])
    except LatebindError:  # packing will say why it makes none of them any more
        return list(ledger.record.packages)
    names = []
    for kind, job in plan.jobs:
        if kind.after:
            continue
        try:
            is_old = any(stage.manifest.source_hash != run.source_hash for stage in run.stages_of(job))
            if is_old or not ledger.is_current(job.name, hash_package(run, kind, job)):
                names.append(job.name)
        except NotRun:
            continue
    return names

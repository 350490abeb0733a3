"""Wheels: one for each target."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.build.extension import refuse_foreign
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PlannedFile
from latebind.ecosystems.wheel.pack import build_distribution
from latebind.ecosystems.wheel.sdist_kinds import SDISTS
from latebind.filenames import wheel_file
from latebind.tables.pythonabi import abi_tags
from latebind.tables.targets import host_rid, target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackRun


def _plan(config: Config, suited: Mapping[str, Sequence[str]], _rids: Sequence[str]) -> list[PlannedFile]:
    return plan_wheels(config, suited, config.wheel_sources)


def plan_wheels(config: Config, suited: Mapping[str, Sequence[str]], sources: Mapping[str, str]) -> list[PlannedFile]:
    """The wheels of some packages, each with its source. One CPython's own ABI is configured only for this machine."""
    return [
        PlannedFile(
            file=wheel_file(config, name, rid, config.floor(target(rid))),
            kind="wheel",
            package=name,
            inputs=(f"stage/{rid}/{config.packages[name].component}", source),
        )
        for name, source in sources.items()
        for rid in suited[name]
        if config.wheel_kind(name) != "cpython" or rid == host_rid()
    ]


def _jobs(run: PackRun) -> list[PackageJob]:
    return [
        PackageJob(
            name=f"wheel {name} {stage.rid}",
            package=name,
            stages=(stage,),
            source=run.config.root / source,
        )
        for name, source in run.config.wheel_sources.items()
        for stage in run.suited(name)
    ]


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    (stage,) = job.stages
    refuse_foreign(run.config.wheel_kind(job.package), stage.rid)
    file = run.dist / wheel_file(run.config, job.package, stage.rid, stage.manifest.floor)
    source = job.source or Path()  # each of these jobs has one
    digest = run.config.digest
    return [build_distribution(source, file, "wheel", rid=stage.rid, workdir=run.workdir, config_digest=digest)]


WHEELS = PackageKind(
    name="wheel",
    is_for_targets=lambda package: package.wheel is not None and package.ep is None,
    plan=_plan,
    jobs=_jobs,
    key=lambda run, job: [abi_tags(run.config.wheel_kind(job.package))],
    make=_make,
)
KINDS = (WHEELS, SDISTS)

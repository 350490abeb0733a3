"""Wheels: one for each target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.build.extension import refuse_foreign
from latebind.build.kinds.kind import PackageJob, PlannedFile
from latebind.build.wheel import build_distribution
from latebind.errors import BuildError
from latebind.filenames import wheel_file
from latebind.tables.pythonabi import abi_tags
from latebind.tables.targets import host_rid, target

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.build.kinds.kind import PackRun
    from latebind.config.config import Config
    from latebind.config.document import Package
    from latebind.model import Kind


class Wheels:
    """The PackageKind of wheels."""

    name: Kind = "wheel"
    after = ()

    def is_for_targets(self, package: Package) -> bool:
        """See PackageKind."""
        return package.wheel is not None

    def plan(self, config: Config, suited: Mapping[str, Sequence[str]], rids: Sequence[str]) -> list[PlannedFile]:  # noqa: ARG002
        """See PackageKind. A wheel of one CPython's own ABI is planned for this machine alone."""
        return [
            PlannedFile(
                file=wheel_file(config, name, rid, config.floor(target(rid))),
                kind=self.name,
                package=name,
                inputs=(f"stage/{rid}/{package.component}", package.wheel.source),
            )
            for name, package in config.packages.items()
            if package.wheel is not None
            for rid in suited[name]
            if package.wheel.kind != "cpython" or rid == host_rid()
        ]

    def jobs(self, run: PackRun) -> list[PackageJob]:
        """See PackageKind."""
        return [
            PackageJob(
                name=f"wheel {name} {stage.rid}",
                package=name,
                stages=(stage,),
                source=run.config.root / row.wheel.source,
            )
            for name, row in run.config.packages.items()
            if row.wheel is not None
            for stage in run.suited(name)
        ]

    def key(self, run: PackRun, job: PackageJob) -> list[str]:
        """See PackageKind."""
        return [abi_tags(run.config.wheel_kind(job.package))]

    def make(self, run: PackRun, job: PackageJob) -> Sequence[Path]:
        """See PackageKind."""
        (stage,) = job.stages
        refuse_foreign(run.config.wheel_kind(job.package), stage.rid)
        file = run.dist / wheel_file(run.config, job.package, stage.rid, stage.manifest.floor)
        return [build_distribution(wheel_source(job), file, "wheel", rid=stage.rid, workdir=run.workdir)]


def wheel_source(job: PackageJob) -> Path:
    """The wheel source of a job. Raises BuildError when there is none."""
    if job.source is None:
        raise BuildError(f"package {job.package} has no wheel source")
    return job.source

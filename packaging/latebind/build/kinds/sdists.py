"""Sdists: one for each wheel source, compared with a wheel of the same run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.build.kinds.kind import PackageJob, PlannedFile
from latebind.build.sdist import build_sdist
from latebind.build.sources import native_files
from latebind.filenames import sdist_file
from latebind.system.tree import hash_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.build.kinds.kind import PackRun
    from latebind.config.config import Config
    from latebind.config.document import Package
    from latebind.model import Kind


class Sdists:
    """The PackageKind of sdists."""

    name: Kind = "sdist"
    after: Sequence[Kind] = ("wheel",)

    def is_for_targets(self, package: Package) -> bool:  # noqa: ARG002  # an sdist is for every target
        """See PackageKind."""
        return False

    def plan(self, config: Config, suited: Mapping[str, Sequence[str]], rids: Sequence[str]) -> list[PlannedFile]:  # noqa: ARG002
        """See PackageKind."""
        native, file = config.document.native.source, config.file.name
        return [
            PlannedFile(
                file=sdist_file(config, name),
                kind=self.name,
                package=name,
                inputs=(package.wheel.source, native, "loader", file),
            )
            for name, package in config.packages.items()
            if package.wheel is not None
        ]

    def jobs(self, run: PackRun) -> list[PackageJob]:
        """See PackageKind."""
        return [
            PackageJob(name=f"sdist {name}", package=name, source=run.config.root / package.wheel.source)
            for name, package in run.config.packages.items()
            if package.wheel is not None
        ]

    def key(self, run: PackRun, job: PackageJob) -> list[str]:  # noqa: ARG002  # all sdists carry the same native code
        """See PackageKind. Executable bits of the native code are part of an sdist."""
        files = native_files(run.config, run.workdir)
        return [run.source_hash, hash_files(run.config.native_source, files)]

    def make(self, run: PackRun, job: PackageJob) -> Sequence[Path]:
        """See PackageKind."""
        wheels = [
            (paths[0], made.stages[0].rid)
            for made, paths in run.made.items()
            if made.package == job.package and made.name.startswith("wheel ")
        ]
        return [build_sdist(run, job.package, wheels[-1] if wheels else None)]

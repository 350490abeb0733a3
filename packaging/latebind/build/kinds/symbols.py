"""Archives of native debug symbols: one for each target, with all components."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.build.kinds.kind import PackageJob, PlannedFile
from latebind.build.symbols import pack_symbols
from latebind.filenames import symbols_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.build.kinds.kind import PackRun
    from latebind.config.config import Config
    from latebind.config.document import Package
    from latebind.model import Kind


class SymbolArchives:
    """The PackageKind of symbols."""

    name: Kind = "symbols"
    after = ()

    def is_for_targets(self, package: Package) -> bool:  # noqa: ARG002  # they are the project's, not a package's
        """See PackageKind."""
        return False

    def plan(self, config: Config, suited: Mapping[str, Sequence[str]], rids: Sequence[str]) -> list[PlannedFile]:  # noqa: ARG002
        """See PackageKind."""
        components = sorted({package.component for package in config.packages.values()})
        return [
            PlannedFile(
                file=symbols_file(config, rid),
                kind=self.name,
                package=config.project.name,
                inputs=tuple(f"stage/{rid}/{one}" for one in components),
            )
            for rid in (rids if config.document.native.symbols else ())
        ]

    def jobs(self, run: PackRun) -> list[PackageJob]:
        """See PackageKind."""
        stages = run.stages if run.config.document.native.symbols else ()
        project = run.config.project.name
        return [PackageJob(name=f"symbols {stage.rid}", package=project, stages=(stage,)) for stage in stages]

    def key(self, run: PackRun, job: PackageJob) -> list[str]:  # noqa: ARG002  # the stage says everything
        """See PackageKind."""
        return []

    def make(self, run: PackRun, job: PackageJob) -> Sequence[Path]:
        """See PackageKind."""
        return [pack_symbols(run.config, job.stages[0], run.workdir, run.dist)]

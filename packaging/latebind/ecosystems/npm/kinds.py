"""npm packages: one for each target and the main one, made together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, PlannedFile
from latebind.ecosystems.npm.config import NpmConfig
from latebind.ecosystems.npm.pack import npm_sources, pack_npm
from latebind.filenames import npm_file, npm_target
from latebind.system.tree import hash_files

if TYPE_CHECKING:
    from latebind.config.config import Config


def _plan(config: Config, suited: Mapping[str, Sequence[str]], _rids: Sequence[str]) -> list[PlannedFile]:
    rows: list[PlannedFile] = []
    for name, package in config.packages.items():
        npm = package.find_table(NpmConfig)
        if npm is not None and suited[name]:
            own = ((npm.source,) if npm.source else ()) + (config.file.name,)
            files = [(npm_target(npm.name, rid), (f"stage/{rid}/{package.component}",)) for rid in suited[name]]
            rows += [
                PlannedFile(file=npm_file(file, config.project.version), kind="npm", package=name, inputs=inputs)
                for file, inputs in [*files, (npm.name, own)]
            ]
    return rows


def _jobs(run: PackRun) -> list[PackageJob]:
    return [
        PackageJob(name=f"npm {name}", package=name, stages=tuple(stages))
        for name, package in run.config.packages.items()
        if package.find_table(NpmConfig) is not None and (stages := run.suited(name))
    ]


NPMS = PackageKind(
    name="npm",
    is_for_targets=lambda package: package.find_table(NpmConfig) is not None,
    plan=_plan,
    jobs=_jobs,
    key=lambda run, job: [hash_files(run.config.root, npm_sources(run.config, job.package), modes=False)],
    make=lambda run, job: pack_npm(run.config, job.package, job.stages, run.dist),
)
KINDS = (NPMS,)

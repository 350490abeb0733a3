"""npm packages: one for each target and the main one, made together."""

from __future__ import annotations

from latebind.ecosystems.ecosystem import PackageJob, PackageKind, Planning
from latebind.ecosystems.npm.config import NpmConfig
from latebind.ecosystems.npm.pack import npm_sources, pack_npm
from latebind.filenames import npm_file, npm_target
from latebind.system.tree import hash_files


def _plan(planning: Planning) -> list[PackageJob]:
    jobs, version = [], planning.project.version
    for name, package in planning.packages.items():
        npm = package.row.find_table(NpmConfig)
        if npm is None or not package.floors:
            continue
        files: dict[str, tuple[str, ...]] = {
            npm_file(npm_target(npm.name, rid), version): (package.name_stage(rid),) for rid in package.floors
        }
        files[npm_file(npm.name, version)] = (*filter(None, [npm.source]), planning.file)
        jobs.append(PackageJob(name=f"npm {name}", package=name, rids=tuple(package.floors), files=files))
    return jobs


NPMS = PackageKind(
    name="npm",
    is_for=lambda package: package.find_table(NpmConfig) is not None,
    plan=_plan,
    key=lambda run, job: [hash_files(run.config.root, npm_sources(run.config, job.package), modes=False)],
    make=lambda run, job: pack_npm(run.config, job.package, run.stages_of(job), run.dist),
)
KINDS = (NPMS,)

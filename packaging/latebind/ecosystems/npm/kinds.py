"""npm packages: one for each target and the main one, made together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageKind, PlannedFile
from latebind.ecosystems.npm.config import NpmConfig, npm_tables
from latebind.ecosystems.npm.pack import npm_sources, pack_npm
from latebind.filenames import npm_file, npm_target
from latebind.system.tree import hash_files


def _plan(config: Config, suited: Mapping[str, Sequence[str]], _rids: Sequence[str]) -> list[PlannedFile]:
    rows: list[PlannedFile] = []
    for name, npm in npm_tables(config).items():
        if suited[name]:
            own = ((npm.source,) if npm.source else ()) + (config.file.name,)
            component = config.packages[name].component
            files = [(npm_target(npm.name, rid), (f"stage/{rid}/{component}",)) for rid in suited[name]]
            rows += [
                PlannedFile(file=npm_file(file, config.project.version), kind="npm", package=name, inputs=inputs)
                for file, inputs in [*files, (npm.name, own)]
            ]
    return rows


NPMS = PackageKind(
    name="npm",
    is_for=lambda package: package.find_table(NpmConfig) is not None,
    plan=_plan,
    jobs=lambda run: run.list_jobs("npm", npm_tables(run.config)),
    key=lambda run, job: [hash_files(run.config.root, npm_sources(run.config, job.package), modes=False)],
    make=lambda run, job: pack_npm(run.config, job.package, job.stages, run.dist),
)
KINDS = (NPMS,)

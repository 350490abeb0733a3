"""Archives of native debug symbols: one for each target, with all components."""

from __future__ import annotations

from latebind.ecosystems.ecosystem import PackageJob, PackageKind, Planning
from latebind.ecosystems.symbols.pack import pack_symbols
from latebind.filenames import symbols_file


def _plan(planning: Planning) -> list[PackageJob]:
    project, components = planning.project, sorted({package.row.component for package in planning.packages.values()})
    return [
        PackageJob(
            name=f"symbols {rid}",
            package=project.name,
            rids=(rid,),
            files={symbols_file(project, rid): tuple(f"stage/{rid}/{component}" for component in components)},
        )
        for rid in (planning.rids if planning.native.symbols else ())
    ]


SYMBOLS = PackageKind(
    name="symbols",
    compiles=True,
    plan=_plan,
    make=lambda run, job: [pack_symbols(run.project, run.stages_of(job)[0], run.dist)],
)
KINDS = (SYMBOLS,)

"""NuGet packages: one with all targets, or one for each and one that requires them; managed symbols, too."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from latebind.build.kinds.kind import PackageJob, PackageKind, PlannedFile
from latebind.build.managed import build_managed
from latebind.build.nuget import pack_nupkgs
from latebind.build.promise import refuse_newer, refuse_unexported
from latebind.filenames import nupkg_file, part_id, snupkg_file
from latebind.nuget import dotnet
from latebind.outputs import outputs
from latebind.system.tree import hash_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from latebind.build.kinds.kind import PackRun
    from latebind.build.managed import ManagedBuild
    from latebind.config.config import Config
    from latebind.config.document import NugetConfig


def _plan(config: Config, suited: Mapping[str, Sequence[str]], _rids: Sequence[str]) -> list[PlannedFile]:
    """Several for a package when `split` says so outright: sizes are not known here."""
    rows: list[PlannedFile] = []
    for name, package in config.packages.items():
        if package.nuget is not None and suited[name]:
            stages = {rid: f"stage/{rid}/{package.component}" for rid in suited[name]}
            rows += _planned(config, name, package.nuget, stages)
    return rows


def _planned(config: Config, package: str, nuget: NugetConfig, stages: Mapping[str, str]) -> list[PlannedFile]:
    version, split = config.project.version, nuget.split is True
    managed = (nuget.managed,) if nuget.managed else ()
    whole = (config.file.name, *managed) if split else (*stages.values(), *managed)
    rows = [("nupkg", nupkg_file(nuget.id, version), whole)]
    if split:
        rows += [("nupkg", nupkg_file(part_id(nuget.id, rid), version), (one,)) for rid, one in stages.items()]
    if managed:
        rows.append(("snupkg", snupkg_file(nuget.id, version), managed))
    return [PlannedFile(file=file, kind=kind, package=package, inputs=inputs) for kind, file, inputs in rows]


def _jobs(run: PackRun) -> list[PackageJob]:
    return [
        PackageJob(
            name=f"nupkg {name}",
            package=name,
            stages=tuple(stages),
            source=run.config.root / package.nuget.managed if package.nuget.managed else None,
        )
        for name, package in run.config.packages.items()
        if package.nuget is not None and (stages := run.suited(name))
    ]


def _key(run: PackRun, job: PackageJob) -> list[str]:
    """Raises NotRun `no-dotnet` when nothing compiles the managed part."""
    config, nuget = run.config, run.config.packages[job.package].nuget
    icon = (nuget.icon if nuget else "") or config.project.icon
    sdk = dotnet.sdk_version(os.environ, job.source) if job.source is not None and job.source.is_dir() else ""
    return [hash_file(config.root / icon) if icon else "", run.commit, sdk]


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    config, made = run.config, run.workdir / "build"
    for stage in job.stages:
        refuse_newer(stage, stage.libraries(config.packages[job.package].component))
        refuse_unexported(config, job.package, stage)
    managed: tuple[ManagedBuild, ...] = ()
    if job.source is not None:
        managed = build_managed(
            job.source,
            made / "managed" / job.package,
            version=config.project.version,
            environment=os.environ,
            home=made / "dotnet-home" / job.package,
            apart=outputs(config, run.workdir).known,
        )
    rows = pack_nupkgs(config, job.package, job.stages, run.dist, managed=managed, commit=run.commit)
    return [row.path for row in rows]


NUPKGS = PackageKind(
    name="nupkg",
    is_for_targets=lambda package: package.nuget is not None,
    plan=_plan,
    jobs=_jobs,
    key=_key,
    make=_make,
)

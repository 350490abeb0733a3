"""Packages of plugins: wheels and nupkgs, whose helpers are generated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, Planning
from latebind.ecosystems.nuget.kinds import nupkg_kind
from latebind.ecosystems.plugin.pack import pack_plugin_wheel, write_helper
from latebind.ecosystems.wheel.kinds import name_wheel


def _plan(planning: Planning) -> list[PackageJob]:
    version = planning.project.version
    return [
        PackageJob(
            name=f"plugin wheel {name} {rid}",
            package=name,
            rids=(rid,),
            files={name_wheel(package, version, rid, wheel.kind): (package.name_stage(rid), planning.file)},
        )
        for name, package in planning.packages.items()
        if package.row.hosted is not None and (wheel := package.row.wheel) is not None
        for rid in package.floors
    ]


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    (file,), (stage,) = job.files, run.stages_of(job)
    return [pack_plugin_wheel(run.config, job.package, stage, run.dist / file)]


PLUGIN_WHEELS = PackageKind(
    name="wheel",
    is_for=lambda package: package.hosted is not None and package.wheel is not None,
    plan=_plan,
    make=_make,
)
PLUGIN_NUPKGS = nupkg_kind(
    lambda package: package.hosted is not None,
    lambda run, job: write_helper(
        run.config, job.package, run.stages_of(job), run.workdir / "build" / "plugin" / job.package
    ),
)
KINDS = (PLUGIN_WHEELS, PLUGIN_NUPKGS)

"""Packages of plugins: wheels and nupkgs, whose helpers are generated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from latebind.config.config import Config
from latebind.config.package import Package
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, PlannedFile
from latebind.ecosystems.nuget.kinds import nupkg_kind
from latebind.ecosystems.plugin.pack import pack_plugin_wheel, write_helper
from latebind.ecosystems.wheel.kinds import plan_wheels
from latebind.filenames import wheel_file


def _has_wheel(package: Package) -> bool:
    return package.hosted is not None and package.wheel is not None


def _plan(config: Config, suited: Mapping[str, Sequence[str]], _rids: Sequence[str]) -> list[PlannedFile]:
    sources = {name: config.file.name for name, package in config.packages.items() if _has_wheel(package)}
    return plan_wheels(config, suited, sources)


def _jobs(run: PackRun) -> list[PackageJob]:
    return [
        PackageJob(name=f"plugin wheel {name} {stage.rid}", package=name, stages=(stage,))
        for name, package in run.config.packages.items()
        if _has_wheel(package)
        for stage in run.suited(name)
    ]


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    (stage,) = job.stages
    file = run.dist / wheel_file(run.config, job.package, stage.rid, stage.manifest.floor)
    return [pack_plugin_wheel(run.config, job.package, stage, file)]


PLUGIN_WHEELS = PackageKind(
    name="wheel",
    is_for=_has_wheel,
    plan=_plan,
    jobs=_jobs,
    make=_make,
)
PLUGIN_NUPKGS = nupkg_kind(
    lambda package: package.hosted is not None,
    lambda run, job: write_helper(run.config, job.package, job.stages, run.workdir / "build" / "plugin" / job.package),
)
KINDS = (PLUGIN_WHEELS, PLUGIN_NUPKGS)

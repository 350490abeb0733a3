"""Packages of plugins: wheels and nupkgs, whose helpers are generated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from latebind.config.package import Package
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun
from latebind.ecosystems.nuget.kinds import nupkg_kind
from latebind.ecosystems.plugin.pack import pack_plugin_wheel, write_helper
from latebind.ecosystems.wheel.kinds import plan_wheels


def _has_wheel(package: Package) -> bool:
    return package.hosted is not None and package.wheel is not None


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    (file,), (stage,) = job.files, run.stages_of(job)
    return [pack_plugin_wheel(run.config, job.package, stage, run.dist / file)]


PLUGIN_WHEELS = PackageKind(
    name="wheel",
    is_for=_has_wheel,
    plan=lambda planning: plan_wheels(planning, "plugin wheel", _has_wheel),
    make=_make,
)
PLUGIN_NUPKGS = nupkg_kind(
    lambda package: package.hosted is not None,
    lambda run, job: write_helper(
        run.config, job.package, run.stages_of(job), run.workdir / "build" / "plugin" / job.package
    ),
)
KINDS = (PLUGIN_WHEELS, PLUGIN_NUPKGS)

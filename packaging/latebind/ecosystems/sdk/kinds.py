"""SDK archives for C and C++: one for each target, with all packages that ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from latebind.build.native import apply_soversion
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, Planning
from latebind.ecosystems.sdk.pack import pack_sdk
from latebind.filenames import sdk_file


def _plan(planning: Planning) -> list[PackageJob]:
    """An archive for each target, with the packages whose runtime exists there."""
    project, jobs = planning.project, []
    for rid in planning.rids:
        packages = [package for package in planning.packages.values() if package.in_sdk and rid in package.floors]
        if packages:
            files = {sdk_file(project, rid): tuple(package.name_stage(rid) for package in packages)}
            jobs.append(PackageJob(name=f"sdk {rid}", package=project.name, rids=(rid,), files=files))
    return jobs


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    config, (stage,) = run.config, run.stages_of(job)
    packages = [name for name in config.sdk_packages if not config.explain_not_made(name, stage.rid)]
    with apply_soversion(run.project, stage) as named:
        return [pack_sdk(config, packages, named, run.dist)]


SDKS = PackageKind(
    name="sdk",
    is_for=lambda package: bool(package.sdk),
    plan=_plan,
    make=_make,
)
KINDS = (SDKS,)

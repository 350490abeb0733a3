"""NuGet packages: one with all targets, or one for each and one that requires them; managed symbols, too."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from latebind.build.commit import checkout
from latebind.build.promise import refuse_broken
from latebind.compilers import dotnet
from latebind.config.package import NugetConfig, Package
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, PlannedPackage, Planning
from latebind.ecosystems.nuget.managed import SOURCES, ManagedBuild, build_managed
from latebind.ecosystems.nuget.pack import describe, pack_nupkgs
from latebind.ecosystems.nuget.source_link import source_link
from latebind.filenames import nupkg_file, part_id, snupkg_file
from latebind.system.tree import hash_file


def nupkg_kind(chosen: Callable[[Package], bool], project: Callable[[PackRun, PackageJob], Path | None]) -> PackageKind:
    """The nupkgs of the packages that are `chosen`. `project` gives the folder of a package's managed project."""

    def plan(planning: Planning) -> list[PackageJob]:
        return [
            PackageJob(
                name=f"nupkg {name}",
                package=name,
                rids=tuple(package.floors),
                source=nuget.managed,
                files=_list_files(package, nuget, planning),
            )
            for name, package in planning.packages.items()
            if (nuget := package.row.nuget) is not None and chosen(package.row) and package.floors
        ]

    return PackageKind(
        name="nupkg",
        is_for=lambda package: package.nuget is not None and chosen(package),
        plan=plan,
        key=_key,
        make=lambda run, job: _make(run, job, project(run, job)),
    )


def _list_files(package: PlannedPackage, nuget: NugetConfig, planning: Planning) -> dict[str, tuple[str, ...]]:
    """Several nupkgs only when `split` is true: sizes are not known here."""
    version, split = planning.project.version, nuget.split is True
    managed = (planning.file,) if package.row.hosted else tuple(filter(None, [nuget.managed]))
    whole = (planning.file, *managed) if split else (*package.list_stages(), *managed)
    files = {nupkg_file(nuget.id, version): tuple(dict.fromkeys(whole))}
    for rid in package.floors if split else ():
        files[nupkg_file(part_id(nuget.id, rid), version)] = (package.name_stage(rid),)
    return files | ({snupkg_file(nuget.id, version): managed} if managed else {})


def _key(run: PackRun, job: PackageJob) -> list[str]:
    """Raises NotRun `no-dotnet` when nothing compiles the managed part."""
    config, package = run.config, run.config.packages[job.package]
    icon = (package.nuget.icon if package.nuget else "") or config.project.icon
    compiled = config.root if package.hosted else _find_project(run, job)
    sdk = dotnet.sdk_version(os.environ, compiled) if compiled is not None and compiled.is_dir() else ""
    return [hash_file(config.root / icon) if icon else "", run.commit, sdk]


def _make(run: PackRun, job: PackageJob, project: Path | None) -> Sequence[Path]:
    config, made = run.config, run.workdir / "build"
    stages = run.stages_of(job)
    for stage in stages:
        refuse_broken(config, job.package, stage)
    managed: tuple[ManagedBuild, ...] = ()
    if project is not None:
        is_source = project == _find_project(run, job)
        managed = build_managed(
            project,
            made / "managed" / job.package,
            version=config.project.version,
            environment=os.environ,
            home=made / "dotnet-home" / job.package,
            apart=run.project.outputs.folders if is_source else (),
            source_link=_source_link(run, project) if is_source else "",
            required=[dependency.id for dependency in describe(config, job.package).dependencies],
        )
    rows = pack_nupkgs(config, job.package, stages, run.dist, managed=managed, commit=run.commit)
    return [row.path for row in rows]


def _source_link(run: PackRun, project: Path) -> str:
    """Where the sources of a managed project are in its repository; "" where that is unknown."""
    root = checkout(run.config.root)
    if root is None or not project.resolve().is_relative_to(root):
        return ""
    return source_link(run.config.project.repository, run.commit, project.resolve().relative_to(root), SOURCES)


def _find_project(run: PackRun, job: PackageJob) -> Path | None:
    """The project's own managed project."""
    return run.config.root / job.source if job.source else None


NUPKGS = nupkg_kind(lambda package: package.hosted is None, _find_project)
KINDS = (NUPKGS,)

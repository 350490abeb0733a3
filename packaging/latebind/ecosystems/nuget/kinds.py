"""NuGet packages: one with all targets, or one for each and one that requires them; managed symbols, too."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from latebind.build.commit import checkout
from latebind.build.promise import refuse_broken
from latebind.compilers import dotnet
from latebind.config.config import Config
from latebind.config.package import NugetConfig, Package
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, PlannedFile
from latebind.ecosystems.nuget.managed import SOURCES, ManagedBuild, build_managed
from latebind.ecosystems.nuget.pack import describe, pack_nupkgs
from latebind.ecosystems.nuget.source_link import source_link
from latebind.filenames import nupkg_file, part_id, snupkg_file
from latebind.system.tree import hash_file


def nupkg_kind(chosen: Callable[[Package], bool], project: Callable[[PackRun, PackageJob], Path | None]) -> PackageKind:
    """The nupkgs of the packages that are `chosen`. `project` gives the folder of a package's managed project."""

    def plan(config: Config, suited: Mapping[str, Sequence[str]], _rids: Sequence[str]) -> list[PlannedFile]:
        """Several for a package only when `split` is true: sizes are not known here."""
        rows: list[PlannedFile] = []
        for name, package in config.packages.items():
            if package.nuget is not None and chosen(package) and suited[name]:
                stages = {rid: f"stage/{rid}/{package.component}" for rid in suited[name]}
                managed = (
                    (config.file.name,) if package.hosted else (package.nuget.managed,) if package.nuget.managed else ()
                )
                rows += _planned(config, name, package.nuget, stages, managed)
        return rows

    def jobs(run: PackRun) -> list[PackageJob]:
        return [
            PackageJob(
                name=f"nupkg {name}",
                package=name,
                stages=tuple(stages),
                source=run.config.root / package.nuget.managed if package.nuget.managed else None,
            )
            for name, package in run.config.packages.items()
            if package.nuget is not None and chosen(package) and (stages := run.suited(name))
        ]

    return PackageKind(
        name="nupkg",
        is_for=lambda package: package.nuget is not None and chosen(package),
        plan=plan,
        jobs=jobs,
        key=_key,
        make=lambda run, job: _make(run, job, project(run, job)),
    )


def _planned(
    config: Config, package: str, nuget: NugetConfig, stages: Mapping[str, str], managed: tuple[str, ...]
) -> list[PlannedFile]:
    version, split = config.project.version, nuget.split is True
    whole = (config.file.name, *managed) if split else (*stages.values(), *managed)
    rows = [("nupkg", nupkg_file(nuget.id, version), tuple(dict.fromkeys(whole)))]
    if split:
        rows += [("nupkg", nupkg_file(part_id(nuget.id, rid), version), (one,)) for rid, one in stages.items()]
    if managed:
        rows.append(("snupkg", snupkg_file(nuget.id, version), managed))
    return [PlannedFile(file=file, kind=kind, package=package, inputs=inputs) for kind, file, inputs in rows]


def _key(run: PackRun, job: PackageJob) -> list[str]:
    """Raises NotRun `no-dotnet` when nothing compiles the managed part."""
    config, package = run.config, run.config.packages[job.package]
    icon = (package.nuget.icon if package.nuget else "") or config.project.icon
    compiled = config.root if package.hosted else job.source
    sdk = dotnet.sdk_version(os.environ, compiled) if compiled is not None and compiled.is_dir() else ""
    return [hash_file(config.root / icon) if icon else "", run.commit, sdk]


def _make(run: PackRun, job: PackageJob, project: Path | None) -> Sequence[Path]:
    config, made = run.config, run.workdir / "build"
    for stage in job.stages:
        refuse_broken(config, job.package, stage)
    managed: tuple[ManagedBuild, ...] = ()
    if project is not None:
        managed = build_managed(
            project,
            made / "managed" / job.package,
            version=config.project.version,
            environment=os.environ,
            home=made / "dotnet-home" / job.package,
            apart=run.project.outputs.folders if project == job.source else (),
            source_link=_source_link(run, project) if project == job.source else "",
            required=[dependency.id for dependency in describe(config, job.package).dependencies],
        )
    rows = pack_nupkgs(config, job.package, job.stages, run.dist, managed=managed, commit=run.commit)
    return [row.path for row in rows]


def _source_link(run: PackRun, project: Path) -> str:
    """Where the sources of a managed project are in its repository; "" where that is unknown."""
    root = checkout(run.config.root)
    if root is None or not project.resolve().is_relative_to(root):
        return ""
    return source_link(run.config.project.repository, run.commit, project.resolve().relative_to(root), SOURCES)


NUPKGS = nupkg_kind(lambda package: package.hosted is None, lambda _run, job: job.source)
KINDS = (NUPKGS,)

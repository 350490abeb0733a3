"""Packs staged native files and a compiled managed project as nupkgs.

One package holds all targets, or, when it is split, `Id.runtime.<rid>` holds one target each and `Id` the managed part
and a dependency on all of those (docs/decisions/0016). contents.py decides the places of files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.sbom import SBOM_FILE
from latebind.backend.stage import Stage
from latebind.backend.tree import hash_file
from latebind.compilers import dotnet
from latebind.config.config import Config
from latebind.config.package import NugetConfig, Package
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, Planning
from latebind.ecosystems.nuget import contents
from latebind.ecosystems.nuget.files import nuget_tables, nupkg_file, part_id, snupkg_file
from latebind.ecosystems.nuget.managed import SOURCES, ManagedBuild, build_managed, source_link
from latebind.ecosystems.nuget.nuspec import Dependency, Nuspec, render_nuspec, same_minor
from latebind.ecosystems.nuget.opc import write_nupkg
from latebind.errors import BuildError
from latebind.native.bill import package_notices, sbom
from latebind.native.promise import refuse_broken
from latebind.semver import semantic_version
from latebind.system.archive import Entry
from latebind.system.git import checkout
from latebind.system.log import LOG
from latebind.text import human_size
from loadcheck.facts import FEED_LIMIT

if TYPE_CHECKING:
    from latebind.ecosystems.nuget.managed import ManagedBuild


_TOO_LARGE = 'To make one package for each target, write split = "auto" instead of false.'
_TOO_LARGE_PART = "Move some of the libraries into a component and package of their own, or publish on another feed."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What one package is made from, and where it goes."""

    config: Config
    package: str
    stages: Sequence[Stage]
    outdir: Path
    managed: Sequence[ManagedBuild]
    nuspec: Nuspec

    @property
    def component(self) -> str:
        return self.config.packages[self.package].component


def pack_nupkgs(  # noqa: PLR0913  # what is packed, from what, to where, and what only the caller knows
    config: Config,
    package: str,
    stages: Sequence[Stage],
    outdir: Path,
    *,
    managed: Sequence[ManagedBuild] = (),
    commit: str = "",
    feed_limit: int = FEED_LIMIT,
) -> list[Path]:
    """Write the NuGet packages of a package into `outdir`, that of its own id first; equal inputs give equal bytes.

    `stages` are the targets to put in; `managed` is what build_managed made of `nuget.managed`; `commit` is the
    sources' commit where it is known; `feed_limit` is the size in bytes above which `split = "auto"` splits. Managed
    symbols become a .snupkg.

    Raises BuildError: no native library for a target, a managed part that is configured and missing, two files of one
    name, a managed and a native file whose names differ only by case, metadata that a feed would refuse.
    """
    nuget = nuget_tables(config.packages)[package]
    if bool(nuget.managed or config.packages[package].hosted) != bool(managed):
        what = "was not built" if nuget.managed else "is not configured (nuget.managed)"
        raise BuildError(f"the managed part of {nuget.id} {what}", where=f"package.{package}")
    if not stages:
        raise BuildError(f"no target is staged for {nuget.id}")
    frameworks = tuple(build.framework for build in managed)
    nuspec = describe(config, package, frameworks=frameworks, commit=commit)
    job = _Job(config=config, package=package, stages=stages, outdir=outdir, managed=managed, nuspec=nuspec)
    paths = _split(job) if nuget.split is True else [_whole(job)]
    if nuget.split == "auto" and (size := paths[0].stat().st_size) > feed_limit:
        LOG.detail(f"{paths[0].name} has {size} bytes, over {feed_limit}: making a package for each target")
        paths[0].unlink()
        paths = _split(job)
    for path in paths:
        if (size := path.stat().st_size) > feed_limit:
            limit = human_size(feed_limit)
            LOG.say(f"warning: {path.name} is {human_size(size)}, but NuGet's public feed accepts at most {limit}")
            LOG.say(f"  help: {_TOO_LARGE if len(paths) == 1 else _TOO_LARGE_PART}")
    return [*paths, *_symbols(job)]


def describe(config: Config, package: str, *, frameworks: Sequence[str] = (), commit: str = "") -> Nuspec:
    """The metadata of a package's nupkg. `frameworks` are the managed part's, none without one.

    Raises BuildError when its version has no form in NuGet.
    """
    nuget, project = nuget_tables(config.packages)[package], config.project
    others = (config.packages[name].nuget for name in config.packages[package].requires)
    return Nuspec(
        id=nuget.id,
        version=semantic_version(project.version),
        authors=project.author_names or (project.name,),
        description=nuget.description or project.description or project.name,
        frameworks=tuple(frameworks) or (contents.NATIVE_ONLY_FRAMEWORK,),
        license=project.license,
        readme=project.readme.rpartition("/")[2],
        icon=(nuget.icon or project.icon).rpartition("/")[2],
        repository=project.repository,
        commit=commit,
        tags=nuget.tags,
        dependencies=(
            *(Dependency(id=other.id, range=same_minor(project.version)) for other in others if other is not None),
            *_runtime(config, package),
        ),
    )


def _native(job: _Job, *stages: Stage) -> list[Entry]:
    package = job.config.packages[job.package]
    return contents.native(stages or job.stages, package.component, package.companions)


def _whole(job: _Job) -> Path:
    rids = [stage.rid for stage in job.stages]
    files = [
        *_native(job),
        *contents.exclude_others(rids, rids),
        *contents.list_assemblies(job.managed),
        *contents.targets_entries(job.nuspec.id, rids),
        *contents.header_entries(job.nuspec.id, job.stages, job.component),
    ]
    return _write(job, files)


def _split(job: _Job) -> list[Path]:
    """The package with the plain id, and one for each target; none of them is useful without the others."""
    nuspec = job.nuspec
    rids = [stage.rid for stage in job.stages]
    # An application gets a target's files and the managed ones in one folder, though they come from two packages.
    contents.refuse_twins([*_native(job), *contents.list_assemblies(job.managed)], where=nuspec.id)
    pins = tuple(Dependency(id=part_id(nuspec.id, rid), range=f"[{nuspec.version}]") for rid in rids)
    top = replace(job, stages=(), nuspec=replace(nuspec, dependencies=(*nuspec.dependencies, *pins)))
    files = [
        *contents.list_assemblies(job.managed),
        *contents.targets_entries(nuspec.id, (), elsewhere=rids),
        *contents.header_entries(nuspec.id, job.stages, job.component, is_split=True),
    ]
    paths = [_write(top, files, parts=pins)]
    for stage in job.stages:
        part = replace(
            nuspec,
            id=part_id(nuspec.id, stage.rid),
            description=f"{nuspec.description} (native files for {stage.rid}; install {nuspec.id} instead)",
            frameworks=(contents.NATIVE_ONLY_FRAMEWORK,),
            dependencies=(),
        )
        files = [
            *_native(job, stage),
            *contents.exclude_others([stage.rid], rids),
            *contents.list_assemblies(()),
            *contents.targets_entries(part.id, [stage.rid], part_of=nuspec.id),
            *contents.copy_entries(part.id, stage, job.component),
        ]
        paths.append(_write(replace(job, stages=(stage,), managed=(), nuspec=part), files))
    return paths


def _write(job: _Job, files: Sequence[Entry], *, parts: Sequence[Dependency] = ()) -> Path:
    nuspec, project = job.nuspec, job.config.project
    purl = f"pkg:nuget/{nuspec.id}@{nuspec.version}"
    document = sbom(
        job.config, job.package, job.stages, purl, parts=[f"pkg:nuget/{p.id}@{nuspec.version}" for p in parts]
    )
    nuget = nuget_tables(job.config.packages)[job.package]
    everything = [
        *files,
        *contents.readme(job.config.root, project.readme),
        *contents.icon(job.config.root, nuget.icon or project.icon),
        Entry(name=f"sbom/{SBOM_FILE}", data=document),
        *(Entry(name=name, data=data) for name, data in package_notices(job.config, [job.package], job.stages).items()),
    ]
    contents.refuse_twins(everything, where=nuspec.id)
    path = job.outdir / nupkg_file(nuspec.id, project.version)
    write_nupkg(path, nuspec, render_nuspec(nuspec), everything)
    return path


def _symbols(job: _Job) -> list[Path]:
    """The symbol package, which holds what the feed's symbol server takes: portable PDBs and nothing else."""
    files = contents.symbols(job.managed)
    if not files:
        return []
    path = job.outdir / snupkg_file(job.nuspec.id, job.config.project.version)
    write_nupkg(path, job.nuspec, render_nuspec(job.nuspec, template="symbols"), files)
    return [path]


def _runtime(config: Config, package: str) -> tuple[Dependency, ...]:
    """The runtime's own package, from the minimum on, if the configuration asks for it."""
    id_, runtime = nuget_tables(config.packages)[package].runtime, config.runtime_of(package)
    if not id_:
        return ()
    if runtime is None:
        raise BuildError(
            f"nuget.runtime is {id_}, but package {package} binds no runtime",
            where=f"package.{package}",
            advice="Add a [[runtime]] table with a preset, or name a runtime in package.<name>.runtime.",
        )
    return (Dependency(id=id_, range=semantic_version(runtime.minimum)),)


def nupkg_kind(chosen: Callable[[Package], bool], project: Callable[[PackRun, PackageJob], Path | None]) -> PackageKind:
    """The nupkgs of the packages that are `chosen`. `project` gives the folder of a package's managed project."""

    def plan(planning: Planning) -> list[PackageJob]:
        return [
            PackageJob(
                name=f"nupkg {name}",
                package=name,
                rids=tuple(planning.floors[name]),
                source=nuget.managed,
                files=_list_files(planning, name, nuget),
            )
            for name, nuget in nuget_tables(planning.config.packages).items()
            if chosen(planning.config.packages[name]) and planning.floors[name]
        ]

    return PackageKind(
        name="nupkg",
        is_for=lambda package: package.nuget is not None and chosen(package),
        plan=plan,
        key=_key,
        make=lambda run, job: _make(run, job, project(run, job)),
    )


def _list_files(planning: Planning, package: str, nuget: NugetConfig) -> dict[str, tuple[str, ...]]:
    """Several nupkgs only when `split` is true: sizes are not known here."""
    config, version, split = planning.config, planning.config.project.version, nuget.split is True
    managed = (config.file.name,) if config.packages[package].hosted else tuple(filter(None, [nuget.managed]))
    whole = (config.file.name, *managed) if split else (*planning.list_stages(package), *managed)
    files = {nupkg_file(nuget.id, version): tuple(dict.fromkeys(whole))}
    for rid in planning.floors[package] if split else ():
        files[nupkg_file(part_id(nuget.id, rid), version)] = (planning.name_stage(package, rid),)
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
    return pack_nupkgs(config, job.package, stages, run.dist, managed=managed, commit=run.commit)


def _source_link(run: PackRun, project: Path) -> str:
    """Where the sources of a managed project are in its repository; "" where that is unknown."""
    root = checkout(run.config.root)
    if root is None or not project.resolve().is_relative_to(root):
        return ""
    return source_link(run.config.project.repository, run.commit, project.resolve().relative_to(root), SOURCES)


def _find_project(run: PackRun, job: PackageJob) -> Path | None:
    """The project's own managed project."""
    return run.config.root / job.source if job.source else None


KINDS = (nupkg_kind(lambda package: package.hosted is None, _find_project),)

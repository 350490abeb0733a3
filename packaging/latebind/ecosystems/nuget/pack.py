"""Packs staged native files and a compiled managed project as nupkgs.

One package holds all targets, or, when it is split, `Id.runtime.<rid>` holds one target each and `Id` the managed part
and a dependency on all of those (docs/decisions/0016). nugetfiles.py decides the places of files.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.build.notices import package_notices
from latebind.build.sbom import sbom, sbom_file
from latebind.build.stage import Stage
from latebind.config.config import Config
from latebind.ecosystems.nuget import layout as nugetfiles
from latebind.ecosystems.nuget.files import nuget_tables
from latebind.ecosystems.nuget.nuspec import Dependency, Nuspec, exactly, render_nuspec, render_symbols, same_minor
from latebind.ecosystems.nuget.opc import write_nupkg
from latebind.errors import BuildError
from latebind.filenames import nupkg_file, part_id, snupkg_file
from latebind.model import Artifact
from latebind.semver import semantic_version
from latebind.system.archive import Entry
from latebind.system.log import LOG
from loadcheck.archive import sha256
from loadcheck.kinds.nuget.reading import FEED_LIMIT
from loadcheck.text import human_size

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
) -> tuple[Artifact, ...]:
    """Write the NuGet packages of a package into `outdir`, that of its own id first; equal inputs give equal bytes.

    `stages` are the targets to put in; `managed` is what build_managed made of `nuget.managed`; `commit` is the
    sources' commit where it is known; `feed_limit` is the size in bytes above which `split = "auto"` splits. Managed
    symbols become a .snupkg.

    Raises BuildError: no native library for a target, a managed part that is configured and missing, two files of one
    name, a managed and a native file whose names differ only by case, metadata that a feed would refuse.
    """
    nuget = nuget_tables(config)[package]
    if bool(nuget.managed or config.packages[package].hosted) != bool(managed):
        what = "was not built" if nuget.managed else "is not configured (nuget.managed)"
        raise BuildError(f"the managed part of {nuget.id} {what}", where=f"package.{package}")
    if not stages:
        raise BuildError(f"no target is staged for {nuget.id}", advice="Run `latebind build` first.")
    frameworks = tuple(build.framework for build in managed)
    nuspec = describe(config, package, frameworks=frameworks, commit=commit)
    job = _Job(config=config, package=package, stages=stages, outdir=outdir, managed=managed, nuspec=nuspec)
    artifacts = _split(job) if nuget.split is True else [_whole(job)]
    if nuget.split == "auto" and artifacts[0].size > feed_limit:
        LOG.detail(
            f"{artifacts[0].path.name} has {artifacts[0].size} bytes, over {feed_limit}: making a package for "
            "each target"
        )
        artifacts[0].path.unlink()
        artifacts = _split(job)
    for artifact in artifacts:
        if artifact.size > feed_limit:
            size, limit = human_size(artifact.size), human_size(feed_limit)
            LOG.say(f"warning: {artifact.path.name} is {size}, but NuGet's public feed accepts at most {limit}")
            LOG.say(f"  help: {_TOO_LARGE if len(artifacts) == 1 else _TOO_LARGE_PART}")
    return (*artifacts, *_symbols(job))


def describe(config: Config, package: str, *, frameworks: Sequence[str] = (), commit: str = "") -> Nuspec:
    """The metadata of a package's nupkg. `frameworks` are the managed part's, none without one.

    Raises BuildError when its version has no form in NuGet.
    """
    nuget, project = nuget_tables(config)[package], config.project
    return Nuspec(
        id=nuget.id,
        version=semantic_version(project.version),
        authors=project.author_names or (project.name,),
        description=nuget.description or project.description or project.name,
        frameworks=tuple(frameworks) or (nugetfiles.NATIVE_ONLY_FRAMEWORK,),
        license=project.license,
        readme=project.readme.rpartition("/")[2],
        icon=(nuget.icon or project.icon).rpartition("/")[2],
        repository=project.repository,
        commit=commit,
        tags=nuget.tags,
        dependencies=(*_siblings(config, package), *_runtime(config, package)),
    )


def _native(job: _Job) -> list[Entry]:
    """The libraries of the targets, and what a plugin has next to its own."""
    globs = job.config.packages[job.package].companions
    further = [
        Entry(name=f"runtimes/{stage.rid}/native/{file.name}", data=file.read_bytes())
        for stage in job.stages
        for file in stage.data(job.component, globs)
    ]
    return [*nugetfiles.native(job.stages, job.component), *further]


def _whole(job: _Job) -> Artifact:
    files = [
        *_native(job),
        *nugetfiles.list_assemblies(job.managed),
        *nugetfiles.targets_entries(job.nuspec.id, [stage.rid for stage in job.stages]),
        *nugetfiles.header_entries(job.nuspec.id, job.stages, job.component),
    ]
    return _write(job, files)


def _split(job: _Job) -> list[Artifact]:
    """The package with the plain id, and one for each target; none of them is useful without the others."""
    nuspec = job.nuspec
    rids = [stage.rid for stage in job.stages]
    # An application gets a target's files and the managed ones in one folder, though they come from two packages.
    nugetfiles.refuse_twins([*_native(job), *nugetfiles.list_assemblies(job.managed)], where=nuspec.id)
    pins = tuple(Dependency(id=part_id(nuspec.id, rid), range=exactly(nuspec.version)) for rid in rids)
    top = replace(job, stages=(), nuspec=replace(nuspec, dependencies=(*nuspec.dependencies, *pins)))
    files = [
        *nugetfiles.list_assemblies(job.managed),
        *nugetfiles.targets_entries(nuspec.id, (), elsewhere=rids),
        *nugetfiles.header_entries(nuspec.id, job.stages, job.component, is_split=True),
    ]
    artifacts = [_write(top, files, parts=pins)]
    for stage in job.stages:
        part = replace(
            nuspec,
            id=part_id(nuspec.id, stage.rid),
            description=f"{nuspec.description} (native files for {stage.rid}; install {nuspec.id} instead)",
            frameworks=(nugetfiles.NATIVE_ONLY_FRAMEWORK,),
            dependencies=(),
        )
        files = [
            *_native(replace(job, stages=(stage,))),
            *nugetfiles.list_assemblies(()),
            *nugetfiles.targets_entries(part.id, [stage.rid], part_of=nuspec.id),
            *nugetfiles.copy_entries(part.id, stage, job.component),
        ]
        artifacts.append(_write(replace(job, stages=(stage,), managed=(), nuspec=part), files))
    return artifacts


def _write(job: _Job, files: Sequence[Entry], *, parts: Sequence[Dependency] = ()) -> Artifact:
    nuspec, project = job.nuspec, job.config.project
    purl = f"pkg:nuget/{nuspec.id}@{nuspec.version}"
    document = sbom(
        job.config, job.package, job.stages, purl, parts=[f"pkg:nuget/{p.id}@{nuspec.version}" for p in parts]
    )
    nuget = nuget_tables(job.config)[job.package]
    everything = [
        *files,
        *nugetfiles.readme(job.config.root, project.readme),
        *nugetfiles.icon(job.config.root, nuget.icon or project.icon),
        Entry(name=f"sbom/{sbom_file(job.config)}", data=document),
        *(Entry(name=name, data=data) for name, data in package_notices(job.config, [job.package], job.stages).items()),
    ]
    nugetfiles.refuse_twins(everything, where=nuspec.id)
    path = job.outdir / nupkg_file(nuspec.id, project.version)
    write_nupkg(path, nuspec, render_nuspec(nuspec), everything)
    made_from = tuple(str(library) for stage in job.stages for library in stage.libraries(job.component))
    return Artifact(path=path, kind="nupkg", sha256=sha256(path), size=path.stat().st_size, made_from=made_from)


def _symbols(job: _Job) -> list[Artifact]:
    """The symbol package, which holds what the feed's symbol server takes: portable PDBs and nothing else."""
    files = nugetfiles.symbols(job.managed)
    if not files:
        return []
    nuspec = job.nuspec
    path = job.outdir / snupkg_file(nuspec.id, job.config.project.version)
    write_nupkg(path, nuspec, render_symbols(nuspec), files)
    made_from = tuple(str(build.symbols) for build in job.managed if build.symbols)
    return [Artifact(path=path, kind="snupkg", sha256=sha256(path), size=path.stat().st_size, made_from=made_from)]


def _siblings(config: Config, package: str) -> tuple[Dependency, ...]:
    version = same_minor(config.project.version)
    others = (config.packages[name].nuget for name in config.packages[package].requires)
    return tuple(Dependency(id=other.id, range=version) for other in others if other is not None)


def _runtime(config: Config, package: str) -> tuple[Dependency, ...]:
    """The runtime's own package, from the minimum on, if the configuration asks for it."""
    id_, runtime = nuget_tables(config)[package].runtime, config.runtime_of(package)
    if not id_:
        return ()
    if runtime is None:
        raise BuildError(
            f"nuget.runtime is {id_}, but package {package} binds no runtime",
            where=f"package.{package}",
            advice="Add a [[runtime]] table with a preset, or name a runtime in package.<name>.runtime.",
        )
    return (Dependency(id=id_, range=semantic_version(runtime.minimum)),)

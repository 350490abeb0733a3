"""stage + sources -> dist/: every wheel, sdist and nupkg of a project; remakes only what its inputs have changed."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.build.commit import source_commit
from latebind.build.extension import refuse_foreign
from latebind.build.inputs import outside_hash
from latebind.build.ledger import Ledger
from latebind.build.managed import build_managed
from latebind.build.native import ELSEWHERE
from latebind.build.nuget import pack_nupkgs
from latebind.build.promise import refuse_newer, refuse_unexported
from latebind.build.sdist import build_sdist
from latebind.build.sources import hash_sources, native_files
from latebind.build.symbols import pack_symbols
from latebind.build.wheel import build_distribution
from latebind.errors import BuildError, NotRun
from latebind.filenames import wheel_file
from latebind.fingerprint import fingerprint
from latebind.model import Artifact, Kind, NotMade
from latebind.nuget import dotnet
from latebind.outputs import outputs
from latebind.plan import refused, unsupplied
from latebind.system.archive import sha256, source_date_epoch
from latebind.system.parallel import each
from latebind.system.tree import hash_file, hash_files, hash_tree
from latebind.tables.pythonabi import abi_tags

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from latebind.build.managed import ManagedBuild
    from latebind.build.stage import Stage
    from latebind.config.config import Config

_MADE = frozenset({"bin", "obj"})
"""What MSBuild makes beside a project."""
_KINDS: dict[str, Kind] = {".whl": "wheel", ".gz": "sdist", ".nupkg": "nupkg", ".snupkg": "snupkg", ".zip": "symbols"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """What packing made, sorted by file name, and what it could not make."""

    artifacts: tuple[Artifact, ...]
    not_made: tuple[NotMade, ...] = ()


def pack(config: Config, stages: Sequence[Stage], workdir: Path, dist: Path) -> Packed:
    """Make all packages of a project from its stages.

    Files that an earlier run made and this one does not make are removed; files of others in `dist` stay.

    Raises BuildError with the words of whoever failed.
    """
    ledger = Ledger(workdir / "build" / "pack.json", dist)
    suited = {name: [row for row in stages if not unsupplied(config, name, row.rid)] for name in config.packages}
    commit = source_commit(config) if config.project.repository else ""
    jobs = [
        job
        for name, own in suited.items()
        for job in (*_wheels(config, name, own), *_nupkgs(config, name, own, commit))
    ]
    jobs += _symbols(config, stages)
    made = each(lambda job: _run(job, ledger, workdir, dist), jobs)
    # Each sdist is held against a wheel, so these come second.
    wheels = {job.package: (rows[0].path, job.stages[0].rid) for job, rows in zip(jobs, made, strict=True)
              if job.kind == "wheel" and not isinstance(rows, NotMade)}  # fmt: skip
    sdists = [_sdist(config, name, wheels.get(name)) for name in suited if config.packages[name].wheel is not None]
    made += each(lambda job: _run(job, ledger, workdir, dist), sdists)
    ledger.close()
    artifacts = [row for rows in made if not isinstance(rows, NotMade) for row in rows]
    return Packed(
        artifacts=tuple(sorted(artifacts, key=lambda row: row.path.name)),
        not_made=(
            *refused(config, [stage.rid for stage in stages]),
            *(row for row in made if isinstance(row, NotMade)),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Job:
    """What is made at once: what it is called in the ledger, and from what."""

    name: str
    package: str
    kind: Kind
    config: Config
    stages: tuple[Stage, ...]
    source: Path | None
    """The wheel source or the managed project."""
    commit: str = ""
    """The commit that a nupkg names."""
    wheel: tuple[Path, str] | None = None
    """The wheel that an sdist must build, and its target; None where no wheel was made."""


def _wheels(config: Config, package: str, stages: Sequence[Stage]) -> list[_Job]:
    """A wheel for each target."""
    wheel = config.packages[package].wheel
    if wheel is None:
        return []
    source = config.root / wheel.source
    return [
        _Job(
            name=f"wheel {package} {one.rid}",
            package=package,
            kind="wheel",
            config=config,
            stages=(one,),
            source=source,
        )
        for one in stages
    ]


def _sdist(config: Config, package: str, wheel: tuple[Path, str] | None) -> _Job:
    """The sdist, which knows no target, and the wheel that it must build."""
    wheels = config.packages[package].wheel
    source = config.root / wheels.source if wheels is not None else None
    return _Job(
        name=f"sdist {package}", package=package, kind="sdist", config=config, stages=(), source=source, wheel=wheel
    )


def _nupkgs(config: Config, package: str, stages: Sequence[Stage], commit: str) -> list[_Job]:
    """One nupkg with all targets, or one for each and one above them; symbols beside."""
    nuget = config.packages[package].nuget
    if nuget is None or not stages:
        return []
    source = config.root / nuget.managed if nuget.managed else None
    return [
        _Job(
            name=f"nupkg {package}",
            package=package,
            kind="nupkg",
            config=config,
            stages=tuple(stages),
            source=source,
            commit=commit,
        )
    ]


def _symbols(config: Config, stages: Sequence[Stage]) -> list[_Job]:
    """An archive of debug symbols for each target, of all components."""
    name = config.project.name
    return [
        _Job(name=f"symbols {stage.rid}", package=name, kind="symbols", config=config, stages=(stage,), source=None)
        for stage in (stages if config.document.native.symbols else ())
    ]


def _run(job: _Job, ledger: Ledger, workdir: Path, dist: Path) -> list[Artifact] | NotMade:
    try:
        made = ledger.make(job.name, _key(job, workdir), lambda: _make(job, workdir, dist))
    except NotRun as error:
        return NotMade(package=job.package, kind=job.kind, reason=error.reason, message=str(error))
    return [_artifact(path, job.stages) for path in made]


def _make(job: _Job, workdir: Path, dist: Path) -> Sequence[Path]:
    if job.kind == "nupkg":
        return _make_nupkgs(job, workdir, dist)
    if job.kind == "symbols":
        return [pack_symbols(job.config, job.stages[0], workdir, dist)]
    if job.source is None:
        raise BuildError(f"package {job.package} has no wheel source")
    if job.kind == "sdist":
        return [build_sdist(job.config, job.package, dist, workdir, job.wheel)]
    stage = job.stages[0]
    refuse_foreign(job.config.wheel_kind(job.package), stage.rid)
    file = dist / wheel_file(job.config, job.package, stage.rid, stage.manifest.floor)
    return [build_distribution(job.source, file, "wheel", rid=stage.rid, workdir=workdir)]


def _make_nupkgs(job: _Job, workdir: Path, dist: Path) -> Sequence[Path]:
    managed: tuple[ManagedBuild, ...] = ()
    for stage in job.stages:
        refuse_newer(stage, stage.libraries(job.config.packages[job.package].component))
        refuse_unexported(job.config, job.package, stage)
    if job.source is not None:
        managed = build_managed(
            job.source,
            workdir / "build" / "managed" / job.package,
            version=job.config.project.version,
            environment=os.environ,
            home=workdir / "build" / "dotnet-home" / job.package,
            apart=outputs(job.config, workdir).known,
        )
    made = pack_nupkgs(job.config, job.package, job.stages, dist, managed=managed, commit=job.commit)
    return [artifact.path for artifact in made]


def _artifact(path: Path, stages: Sequence[Stage]) -> Artifact:
    made_from = tuple(f"stage/{stage.rid} {stage.manifest.key[:12]}" for stage in stages)
    return Artifact(
        path=path, kind=_KINDS[path.suffix], sha256=sha256(path), size=path.stat().st_size, made_from=made_from
    )


def _key(job: _Job, workdir: Path) -> str:
    """A hash of all that a package is made from.

    Raises NotRun `no-dotnet` when there is nothing that compiles its managed part.
    """
    config, source = job.config, job.source
    made = outputs(config, workdir)
    there = source is not None and source.is_dir()
    parts = [
        *(stage.manifest.key for stage in job.stages),
        *(file.sha256 for stage in job.stages for file in stage.manifest.files),
        *(f"{stage.manifest.toolchain} {stage.manifest.floor}" for stage in job.stages),
        _sources_key(job, workdir) if job.kind == "sdist" else "",
        sha256(config.file),
        abi_tags(config.wheel_kind(job.package)) if job.kind == "wheel" else "",
        hash_file(config.root / config.project.readme) if config.project.readme else "",
        *(hash_file(config.root / icon) for icon in _icons(job)),
        job.commit,
        hash_tree(source, without=_MADE, outputs=made) + outside_hash(source, made) if source and there else "",
        fingerprint(*ELSEWHERE),
        str(source_date_epoch()),
        dotnet.sdk_version(os.environ, source) if job.kind == "nupkg" and source is not None and there else "",
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _sources_key(job: _Job, workdir: Path) -> str:
    """What an sdist carries besides the wheel's own files, executable bits included."""
    files = native_files(job.config, workdir)
    return hash_sources(job.config, workdir) + hash_files(job.config.native_source, files)


def _icons(job: _Job) -> list[str]:
    nuget = job.config.packages[job.package].nuget if job.kind == "nupkg" else None
    return [icon] if nuget is not None and (icon := nuget.icon or job.config.project.icon) else []

"""Sdists: one for each wheel source, compared with a wheel of the same run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from latebind.build.sources import native_files
from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, PlannedFile
from latebind.ecosystems.wheel.pack import list_variables
from latebind.ecosystems.wheel.sdist import build_sdist
from latebind.filenames import sdist_file
from latebind.system.tree import hash_files


def _plan(config: Config, _suited: Mapping[str, Sequence[str]], _rids: Sequence[str]) -> list[PlannedFile]:
    native, file = config.document.native.source, config.file.name
    return [
        PlannedFile(
            file=sdist_file(config, name),
            kind="sdist",
            package=name,
            inputs=(source, native, "loader", file),
        )
        for name, source in _sources(config).items()
    ]


def _jobs(run: PackRun) -> list[PackageJob]:
    return [
        PackageJob(name=f"sdist {name}", package=name, source=run.config.root / source)
        for name, source in _sources(run.config).items()
    ]


def _sources(config: Config) -> dict[str, str]:
    """The wheel sources that become sdists: none where latebind could not build the native files from one."""
    return {} if config.is_built_elsewhere else config.wheel_sources


def _key(run: PackRun, _job: PackageJob) -> list[str]:
    """Executable bits of the native code are part of an sdist."""
    files = native_files(run.project)
    return [run.source_hash, hash_files(run.config.native_source, files)]


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    wheels = [
        (paths[0], list_variables(made))
        for made, paths in run.files_by_job.items()
        if made.package == job.package and made.name.startswith("wheel ")
    ]
    return [build_sdist(run, job.package, wheels[-1] if wheels else None)]


SDISTS = PackageKind(name="sdist", after=("wheel",), plan=_plan, jobs=_jobs, key=_key, make=_make)

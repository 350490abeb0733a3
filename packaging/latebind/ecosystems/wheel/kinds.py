"""Wheels: one for each target and, where the project names CPythons, for each of them; sdists: one for each source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from latebind.build.extension import refuse_foreign
from latebind.build.sources import native_files
from latebind.config.config import Config
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, PlannedFile
from latebind.ecosystems.wheel.pack import build_distribution, list_variables
from latebind.ecosystems.wheel.sdist import build_sdist
from latebind.filenames import sdist_file, wheel_file
from latebind.system.tree import hash_files
from latebind.tables.targets import host_rid, target
from loadcheck.tables.pythonabi import abi_tags, own_abi_python


def plan_wheels(config: Config, suited: Mapping[str, Sequence[str]], sources: Mapping[str, str]) -> list[PlannedFile]:
    """The wheels of some packages, each with its source. One CPython's own ABI is configured only for this machine."""
    return [
        PlannedFile(
            file=wheel_file(config, name, rid, config.floor(target(rid)), kind),
            kind="wheel",
            package=name,
            inputs=(f"stage/{rid}/{config.packages[name].component}", source),
        )
        for name, source in sources.items()
        for rid in suited[name]
        for kind in config.wheel_kinds(name)
        if kind != "cpython" or rid == host_rid()
    ]


def _jobs(run: PackRun) -> list[PackageJob]:
    return [
        PackageJob(
            name=" ".join(filter(None, ("wheel", name, stage.rid, own_abi_python(kind)))),
            package=name,
            stages=(stage,),
            source=run.config.root / source,
            variant=kind,
        )
        for name, source in run.config.wheel_sources.items()
        for stage in run.suited(name)
        for kind in run.config.wheel_kinds(name)
    ]


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    (stage,) = job.stages
    refuse_foreign(job.variant, stage.rid)
    file = run.dist / wheel_file(run.config, job.package, stage.rid, stage.manifest.floor, job.variant)
    source = job.source or Path()  # each of these jobs has one
    request = list_variables(job)
    return [build_distribution(source, file, "wheel", request, workdir=run.workdir, config_digest=run.config.digest)]


WHEELS = PackageKind(
    name="wheel",
    is_for=lambda package: package.wheel is not None and bool(package.wheel.source) and package.hosted is None,
    plan=lambda config, suited, _rids: plan_wheels(config, suited, config.wheel_sources),
    jobs=_jobs,
    key=lambda _run, job: [abi_tags(job.variant)],
    make=_make,
)


# ---- sdists --------------------------------------------------------------------------------------------------------


def _plan_sdists(config: Config, _suited: Mapping[str, Sequence[str]], _rids: Sequence[str]) -> list[PlannedFile]:
    native, file = config.document.native.source, config.file.name
    return [
        PlannedFile(
            file=sdist_file(config, name),
            kind="sdist",
            package=name,
            inputs=(source, native, "loader", file),
        )
        for name, source in _find_sources(config).items()
    ]


def _list_sdists(run: PackRun) -> list[PackageJob]:
    return [
        PackageJob(name=f"sdist {name}", package=name, source=run.config.root / source)
        for name, source in _find_sources(run.config).items()
    ]


def _find_sources(config: Config) -> dict[str, str]:
    """The wheel sources that become sdists: none where latebind could not build the native files from one."""
    return {} if config.is_built_elsewhere else config.wheel_sources


def _list_inputs(run: PackRun, _job: PackageJob) -> list[str]:
    """Executable bits of the native code are part of an sdist."""
    files = native_files(run.project)
    return [run.source_hash, hash_files(run.config.native_source, files)]


def _make_sdist(run: PackRun, job: PackageJob) -> Sequence[Path]:
    wheels = [
        (paths[0], list_variables(made))
        for made, paths in run.files_by_job.items()
        if made.package == job.package and made.name.startswith("wheel ")
    ]
    return [build_sdist(run, job.package, wheels[-1] if wheels else None)]


SDISTS = PackageKind(
    name="sdist", after=("wheel",), plan=_plan_sdists, jobs=_list_sdists, key=_list_inputs, make=_make_sdist
)
KINDS = (WHEELS, SDISTS)

"""Wheels: one for each target and, where the project names CPythons, for each of them; sdists: one for each source."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

from latebind.build.extension import refuse_foreign
from latebind.build.sources import native_files
from latebind.config.package import Package
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, Planning
from latebind.ecosystems.wheel.pack import build_distribution, list_variables
from latebind.ecosystems.wheel.sdist import build_sdist
from latebind.filenames import sdist_file, tag, wheel_file
from latebind.system.tree import hash_files
from latebind.tables.targets import host_rid
from loadcheck.tables.pythonabi import abi_tags, own_abi_python


def plan_wheels(planning: Planning, title: str, is_for: Callable[[Package], bool]) -> list[PackageJob]:
    """A job for each wheel of some packages. One CPython's own ABI is configured only for this machine."""
    jobs, version = [], planning.project.version
    for name, package in planning.packages.items():
        wheel = package.row.wheel
        if wheel is None or not is_for(package.row):
            continue
        for rid, kind in product(package.floors, wheel.kinds):
            file = wheel_file(package.wheel_name, version, tag(kind, rid, package.floors[rid]))
            is_planned = kind != "cpython" or rid == host_rid()
            job = PackageJob(
                name=" ".join(filter(None, (title, name, rid, own_abi_python(kind)))),
                package=name,
                rids=(rid,),
                source=wheel.source,
                variant=kind,
                files={file: (package.name_stage(rid), wheel.source or planning.file)} if is_planned else {},
            )
            jobs.append(job)
    return jobs


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    refuse_foreign(job.variant, job.rids[0])
    (file,), source, request = job.files, run.config.root / job.source, list_variables(job)
    digest, workdir = run.config.digest, run.workdir
    return [build_distribution(source, run.dist / file, "wheel", request, workdir=workdir, config_digest=digest)]


def _is_for(package: Package) -> bool:
    return package.wheel is not None and bool(package.wheel.source)


WHEELS = PackageKind(
    name="wheel",
    is_for=_is_for,
    plan=lambda planning: plan_wheels(planning, "wheel", _is_for),
    key=lambda _run, job: [abi_tags(job.variant)],
    make=_make,
)


# ---- sdists --------------------------------------------------------------------------------------------------------


def _plan_sdists(planning: Planning) -> list[PackageJob]:
    """None where latebind could not build the native files from one."""
    native, version = planning.native, planning.project.version
    return [
        PackageJob(
            name=f"sdist {name}",
            package=name,
            source=wheel.source,
            files={
                sdist_file(package.wheel_name, version): (wheel.source, native.source, "loader", planning.file),
            },
        )
        for name, package in planning.packages.items()
        if native.build != "external" and (wheel := package.row.wheel) is not None and wheel.source
    ]


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
    return [build_sdist(run, job, wheels[-1] if wheels else None)]


SDISTS = PackageKind(name="sdist", after=("wheel",), plan=_plan_sdists, key=_list_inputs, make=_make_sdist)
KINDS = (WHEELS, SDISTS)

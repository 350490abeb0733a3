"""Wheels: one for each target and, where the project names CPythons, for each of them; sdists: one for each source."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from latebind.build.extension import refuse_foreign
from latebind.build.sources import native_files
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, PlannedPackage, Planning
from latebind.ecosystems.wheel.pack import build_distribution, list_variables
from latebind.ecosystems.wheel.sdist import build_sdist
from latebind.filenames import sdist_file, tag, wheel_file
from latebind.system.tree import hash_files
from latebind.tables.targets import host_rid
from loadcheck.tables.pythonabi import abi_tags, own_abi_python


def name_wheel(package: PlannedPackage, version: str, rid: str, kind: str) -> str:
    """The wheel of a package for a target."""
    return wheel_file(package.wheel_name, version, tag(kind, rid, package.floors[rid]))


def _plan(planning: Planning) -> list[PackageJob]:
    """One CPython's own ABI is configured only for this machine."""
    version = planning.project.version
    return [
        PackageJob(
            name=" ".join(filter(None, ("wheel", name, rid, own_abi_python(kind)))),
            package=name,
            rids=(rid,),
            source=wheel.source,
            variant=kind,
            files={name_wheel(package, version, rid, kind): (package.name_stage(rid), wheel.source)}
            if kind != "cpython" or rid == host_rid()
            else {},
        )
        for name, package in planning.packages.items()
        if (wheel := package.row.wheel) is not None and wheel.source
        for rid, kind in product(package.floors, wheel.kinds)
    ]


def _make(run: PackRun, job: PackageJob) -> Sequence[Path]:
    refuse_foreign(job.variant, job.rids[0])
    (file,), source, request = job.files, run.config.root / job.source, list_variables(job)
    digest, workdir = run.config.digest, run.workdir
    return [build_distribution(source, run.dist / file, "wheel", request, workdir=workdir, config_digest=digest)]


WHEELS = PackageKind(
    name="wheel",
    is_for=lambda package: package.wheel is not None and bool(package.wheel.source) and package.hosted is None,
    plan=_plan,
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

"""Makes wheels and sdists through the project's PEP 517 backend, and checks that an sdist builds the tree's wheel.

There is a wheel for each target and, where the project names CPythons, for each of them; an sdist for each source.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from build import BuildBackendException, BuildException, ProjectBuilder

from latebind.backend.extension import refuse_foreign
from latebind.backend.files import replacing, source_date_epoch
from latebind.backend.kinds import abi_tags
from latebind.backend.recipe import KIND_VARIABLE, NATIVE, STAGE_VARIABLE, TARGET_VARIABLE
from latebind.backend.targets import host_rid
from latebind.backend.toolchain import TOOLCHAIN_VARIABLE
from latebind.backend.tree import hash_file, hash_files, list_tree
from latebind.config.package import Package
from latebind.config.project import DIGEST_VARIABLE
from latebind.ecosystems.ecosystem import PackageJob, PackageKind, PackRun, Planning
from latebind.ecosystems.wheel.buildsystem import refuse_missing_requirements
from latebind.ecosystems.wheel.files import sdist_file, tag, wheel_file
from latebind.ecosystems.wheel.metadata import WORKDIR_VARIABLE
from latebind.errors import BuildError, ToolError
from latebind.native.buildadvice import own_words
from latebind.native.sources import forced_includes, native_files
from latebind.system.archive import unpack_tar
from latebind.system.files import sha256
from latebind.system.lock import HELD_VARIABLE
from latebind.system.run import run
from latebind.tables.wheelkinds import own_abi_python

_TIME_LIMIT = 1800.0
_SHOWN = 5


def build_distribution(  # noqa: PLR0913  # all that a backend is given
    source: Path,
    destination: Path,
    form: Literal["wheel", "sdist"],
    request: Mapping[str, str] = MappingProxyType({}),
    *,
    workdir: Path,
    config_digest: str,
) -> Path:
    """Make the wheel or the sdist of a wheel source in this Python's environment; move it to `destination` at the end.

    `request` are the variables that tell the hook which wheel to make; `config_digest` is that of the configuration,
    which the backend reads, too.

    Raises BuildError with the backend's words, and when it gives the file another name; an earlier file at
    `destination` stays when this fails.
    """
    refuse_missing_requirements(source)
    environment = {
        **{key: value for key, value in os.environ.items() if key != TOOLCHAIN_VARIABLE},  # latebind.toml has it
        WORKDIR_VARIABLE: str(workdir.resolve()),
        "SOURCE_DATE_EPOCH": str(source_date_epoch()),
        DIGEST_VARIABLE: config_digest,
        HELD_VARIABLE: str(workdir.resolve()),  # the hook is a child of the process that holds the lock
        **request,
    }
    (workdir / "build").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".pack-", dir=workdir / "build") as aside:
        try:
            _call_backend(source, form, Path(aside), environment)
        except ToolError as error:
            raise BuildError(
                own_words(error.message) or f"{source.name} could not be built: {error.message}",
                where=str(source),
            ) from error
        (artifact,) = Path(aside).iterdir()
        if artifact.name != destination.name:
            raise BuildError(
                f"the backend wrote {artifact.name}, but the configuration asks for {destination.name}",
                where=str(source / "pyproject.toml"),
                advice="Let latebind set the version (list it in `dynamic`), and keep strict-naming at its default.",
            )
        return _move_into_place(artifact, destination)


def _list_variables(job: PackageJob) -> dict[str, str]:
    """The variables of the environment that tell the hook which wheel to make."""
    return {TARGET_VARIABLE: job.rids[0], KIND_VARIABLE: job.variant}


def _call_backend(source: Path, kind: Literal["wheel", "sdist"], out: Path, environment: Mapping[str, str]) -> None:
    """What `python -m build --no-isolation` does, without starting another Python for each package.

    Raises ToolError.
    """

    def call(cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None) -> None:
        where = Path(cwd) if cwd else None
        run(cmd, cwd=where, env={**environment, **(extra_environ or {})}, timeout=_TIME_LIMIT)

    try:
        ProjectBuilder(source, runner=call).build(kind, out)
    except (BuildException, BuildBackendException) as error:
        cause = getattr(error, "exception", None)
        why = getattr(cause, "traceback", None) or ""  # of a backend that cannot be imported
        raise (cause if isinstance(cause, ToolError) else ToolError(f"{error}\n{why}".rstrip())) from error


def _move_into_place(path: Path, destination: Path) -> Path:
    """Move a finished file to its place in one step, also to another file system."""
    with replacing(destination) as aside:
        shutil.move(path, aside)
    return destination


def plan_wheels(planning: Planning, title: str, is_for: Callable[[Package], bool]) -> list[PackageJob]:
    """A job for each wheel of some packages. One CPython's own ABI is configured only for this machine."""
    jobs, config = [], planning.config
    for name, package in config.packages.items():
        wheel, floors = package.wheel, planning.floors[name]
        if wheel is None or not is_for(package):
            continue
        for rid, kind in product(floors, wheel.kinds):
            file = wheel_file(config.wheel_name(name), config.project.version, tag(kind, rid, floors[rid]))
            is_planned = kind != "cpython" or rid == host_rid()
            job = PackageJob(
                name=" ".join(filter(None, (title, name, rid, own_abi_python(kind)))),
                package=name,
                rids=(rid,),
                source=wheel.source,
                variant=kind,
                files={file: (planning.name_stage(name, rid), wheel.source or config.file.name)} if is_planned else {},
            )
            jobs.append(job)
    return jobs


def _make_wheel(run: PackRun, job: PackageJob) -> Sequence[Path]:
    refuse_foreign(job.variant, job.rids[0])
    (file,), source, request = job.files, run.config.root / job.source, _list_variables(job)
    digest, workdir = run.config.digest, run.workdir
    return [build_distribution(source, run.dist / file, "wheel", request, workdir=workdir, config_digest=digest)]


def _is_for(package: Package) -> bool:
    return package.wheel is not None and bool(package.wheel.source)


# ---- sdists --------------------------------------------------------------------------------------------------------


def _plan_sdists(planning: Planning) -> list[PackageJob]:
    config, native = planning.config, planning.config.document.native
    version, inputs = config.project.version, (native.source, "loader", config.file.name)
    return [
        PackageJob(
            name=f"sdist {name}",
            package=name,
            source=source,
            files={sdist_file(config.wheel_name(name), version): (source, *inputs)},
        )
        for name, source in config.sdist_sources.items()
    ]


def _make_sdist(run: PackRun, job: PackageJob) -> Sequence[Path]:
    """Make the sdist of a job in `dist`, once it has built a wheel again that the tree has built, too.

    Without a wheel nothing is compared. The stage of the tree serves both, since the sdist carries
    the same native code: nothing is compiled again.

    Raises BuildError with what differs; an earlier sdist then stays.
    """
    config, workdir, (name,), source = run.config, run.workdir, job.files, run.config.root / job.source
    wheels = [made for made in run.files_by_job if made.package == job.package and made.name.startswith("wheel ")]
    (workdir / "build").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".sdist-", dir=workdir / "build") as aside:
        sdist = build_distribution(source, Path(aside) / name, "sdist", workdir=workdir, config_digest=config.digest)
        root = unpack_tar(sdist, Path(aside) / "unpacked")
        _refuse_unbuildable(root, name)
        _refuse_other_sources(run, root, name)
        if wheels:
            (wheel,), request = run.files_by_job[wheels[-1]], _list_variables(wheels[-1])
            request |= {STAGE_VARIABLE: str(run.project.workdir.resolve() / "stage" / wheels[-1].rids[0])}
            file = Path(aside) / wheel.name
            again = build_distribution(root, file, "wheel", request, workdir=workdir, config_digest="")
            _refuse_other_wheel(wheel, again, name)
        return [_move_into_place(sdist, run.dist / name)]


def _refuse_unbuildable(root: Path, name: str) -> None:
    if not (root / "pyproject.toml").is_file():
        raise BuildError(
            f"{name} would have no pyproject.toml at its root, and installers could not build it",
            where=name,
            advice="In the wheel's pyproject.toml, let [tool.hatch.build.targets.sdist] select it, without `sources` "
            "for it.",
        )
    outside = [path for path in forced_includes(root) if not path.resolve().is_relative_to(root.resolve())]
    if outside:
        shown = ", ".join(Path(os.path.relpath(path, root)).as_posix() for path in outside[:_SHOWN])
        raise BuildError(
            f"{name} cannot be built: its pyproject.toml takes files from outside its folder: {shown}",
            where=name,
            advice="Copy the files next to pyproject.toml, and name the copies under force-include.",
        )
    if (root / "setup.py").is_file():
        raise BuildError(
            f"{name} would contain a setup.py next to pyproject.toml: two build systems for one package",
            where=name,
            advice='Remove the file, or add exclude = ["/setup.py"] to [tool.hatch.build.targets.sdist].',
        )


def _refuse_other_sources(run: PackRun, root: Path, name: str) -> None:
    config = run.config
    ours, theirs = (
        {path.relative_to(folder).as_posix(): hash_file(path) for path in files}
        for folder, files in (
            (config.native_source, native_files(run.project)),
            (root / NATIVE, list_tree(root / NATIVE)),
        )
    )
    if ours == theirs:
        return
    shown = ", ".join(_list_changed(ours, theirs)[:_SHOWN])
    raise BuildError(
        f"{name} would have native code that differs from the project's: {shown}",
        where=name,
        advice=f"Move the wheel's own files out of {NATIVE}/, where latebind puts an sdist's native code.",
    )


def _refuse_other_wheel(tree: Path, sdist: Path, name: str) -> None:
    if sha256(tree) == sha256(sdist):
        return
    ours, theirs = _members(tree), _members(sdist)
    changed = _list_changed(ours, theirs)
    named = [file for file in changed if not file.endswith("/RECORD")] or changed
    states = ["is missing" if file not in theirs else "is new" if file not in ours else "differs" for file in named]
    shown = ", ".join(f"{file} {state}" for file, state in list(zip(named, states, strict=True))[:_SHOWN])
    raise BuildError(
        f"a wheel that is built from {name} differs from {tree.name}: {shown or 'the archives differ'}",
        where=name,
        advice="Correct [tool.hatch.build.targets.sdist] in the wheel's pyproject.toml: the sdist needs all files that "
        "the wheel is built from.",
    )


def _list_changed(ours: Mapping[str, object], theirs: Mapping[str, object]) -> list[str]:
    """The files, by name, that are not the same on both sides."""
    return sorted(file for file in ours.keys() | theirs.keys() if ours.get(file) != theirs.get(file))


def _members(wheel: Path) -> dict[str, int]:
    with zipfile.ZipFile(wheel) as archive:
        return {info.filename: info.CRC for info in archive.infolist()}


KINDS = (
    PackageKind(
        name="wheel",
        is_for=_is_for,
        plan=lambda planning: plan_wheels(planning, "wheel", _is_for),
        key=lambda _run, job: [abi_tags(job.variant)],
        make=_make_wheel,
    ),
    PackageKind(
        name="sdist",
        after=("wheel",),
        plan=_plan_sdists,
        # Executable bits of the native code are part of an sdist.
        key=lambda run, _job: [run.source_hash, hash_files(run.config.native_source, native_files(run.project))],
        make=_make_sdist,
    ),
)

"""Makes an sdist and checks that it builds the same wheel as the project's tree."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.build.sources import forced_includes, hash_sources, native_files
from latebind.config.config import SDIST_NATIVE, Config
from latebind.config.file import FILE_NAME, load
from latebind.ecosystems.wheel.pack import build_distribution
from latebind.errors import BuildError
from latebind.system.archive import unpack_tar
from latebind.system.tree import hash_file
from loadcheck.archive import replacing, sha256

if TYPE_CHECKING:
    from latebind.ecosystems.ecosystem import PackageJob, PackRun

_SHOWN = 5


def build_sdist(run: PackRun, job: PackageJob, wheel: tuple[Path, Mapping[str, str]] | None) -> Path:
    """Make the sdist of a job in `dist`, once it has built `wheel` again: the tree's own, with hook variables.

    Without a wheel nothing is compared. The stage of the tree serves both, since its key shows that the sdist carries
    the same native code: nothing is compiled again.

    Raises BuildError with what differs; an earlier sdist then stays.
    """
    config, dist, workdir, (name,) = run.config, run.dist, run.workdir, job.files
    (workdir / "build").mkdir(parents=True, exist_ok=True)
    source = config.root / job.source
    with tempfile.TemporaryDirectory(prefix=".sdist-", dir=workdir / "build") as aside:
        sdist = build_distribution(source, Path(aside) / name, "sdist", workdir=workdir, config_digest=config.digest)
        root = unpack_tar(sdist, Path(aside) / "unpacked")
        _refuse_unbuildable(root, name)
        unpacked = load(root / FILE_NAME)
        _refuse_other_sources(run, unpacked, name)
        if wheel is not None:
            file = Path(aside) / wheel[0].name
            again = build_distribution(root, file, "wheel", wheel[1], workdir=workdir, config_digest=unpacked.digest)
            _refuse_other_wheel(wheel[0], again, name)
        with replacing(dist / name) as destination:
            shutil.move(sdist, destination)
    return dist / name


def _refuse_unbuildable(root: Path, name: str) -> None:
    if not (root / "pyproject.toml").is_file():
        raise BuildError(
            f"{name} would have no pyproject.toml at its root, and installers could not build it",
            where=name,
            advice="Add it to the files that [tool.hatch.build.targets.sdist] selects in the wheel's pyproject.toml.",
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


def _refuse_other_sources(run: PackRun, unpacked: Config, name: str) -> None:
    packed = replace(run.project, config=unpacked)
    if hash_sources(packed) == run.source_hash:
        return
    ours, theirs = (
        {path.relative_to(project.config.native_source).as_posix(): hash_file(path) for path in native_files(project)}
        for project in (run.project, packed)
    )
    shown = ", ".join(_list_changed(ours, theirs)[:_SHOWN]) or "latebind.toml"
    raise BuildError(
        f"{name} would have native code that differs from the project's: {shown}",
        where=name,
        advice=f"Move the wheel's own files out of {SDIST_NATIVE}/, where latebind puts an sdist's native code.",
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

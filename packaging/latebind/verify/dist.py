"""Finds the packages in a folder: hashed, and checked by their names."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import Version

from latebind.errors import InputError
from latebind.filenames import npm_file, npm_target, npm_version, sdk_file
from latebind.model import Artifact, Sha256
from latebind.semver import semantic_version
from latebind.system.archive import ZipReader, sha256
from latebind.system.tarball import TarReader
from latebind.tables.kinds import INSTALLED_KINDS, file_kind
from latebind.tables.targets import installs, target, targets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.model import Kind, Rid

_VERSION_AFTER_ID = re.compile(r"\.\d+(\.\d+)+(-[^/]*)?$")


def artifacts_in(folder: Path, config: Config) -> tuple[Artifact, ...]:
    """The packages of a project that a folder holds and consumers install, sorted by name.

    Raises InputError when it is not a folder, holds none, or holds one that cannot be read or belongs to another
    version or project: that one would be installed and tested instead.
    """
    if not folder.is_dir():
        raise InputError("is not a folder", where=str(folder), advice="Name the folder that holds the packages.")
    found = listed_in(folder)
    if not found:
        raise InputError(
            "holds no wheel, no nupkg, no npm package and no SDK archive",
            where=str(folder),
            advice="Make them: latebind pack.",
        )
    problems = [problem for artifact in found if (problem := _problem(artifact, config))]
    if problems:
        raise InputError(
            "; ".join(problems), where=str(folder), advice="Keep only what latebind pack makes now in that folder."
        )
    return found


def listed_in(folder: Path) -> tuple[Artifact, ...]:
    """The packages of any project in a folder that consumers install, sorted by name."""
    return tuple(
        Artifact(path=path.resolve(), kind=kind, sha256=Sha256(sha256(path)), size=path.stat().st_size)
        for path, kind in _installed(folder)
    )


def _installed(folder: Path) -> Iterator[tuple[Path, Kind]]:
    for path in sorted(folder.iterdir()):
        with suppress(ValueError):
            if (kind := file_kind(path.name)) in INSTALLED_KINDS:
                yield path, kind


def _problem(artifact: Artifact, config: Config) -> str:
    """Why a file is not a package of the project, "" when it is one."""
    name = artifact.path.name
    judges = {"wheel": _not_our_wheel, "nupkg": _not_our_nupkg, "npm": _not_our_npm, "sdk": _not_our_sdk}
    if wrong := judges[artifact.kind](name, config):
        return f"{name} is {wrong}"
    try:
        _read(artifact)
    except InputError as error:
        return f"{name} is {error.message}"
    return ""


def _read(artifact: Artifact) -> None:
    """Raises InputError for an archive that cannot be read."""
    if artifact.path.suffix in (".tgz", ".gz"):
        for _ in TarReader(artifact.path).files():
            pass
    else:
        with ZipReader(artifact.path):
            pass


def _not_our_wheel(name: str, config: Config) -> str:
    try:
        distribution, version, *_ = parse_wheel_filename(name)
    except InvalidWheelFilename:
        return "not named as a wheel must be"
    if distribution not in {canonicalize_name(config.wheel_name(package)) for package in config.packages}:
        return "of another project"
    if version != Version(config.project.version):
        return f"not of version {config.project.version}"
    return ""


def _not_our_nupkg(name: str, config: Config) -> str:
    """Judged by name: `<id>.<version>.nupkg`, or `<id>.runtime.<rid>.<version>.nupkg` for a part of a split package."""
    ids = [package.nuget.id for package in config.packages.values() if package.nuget is not None]
    ours = {f"{one}{part}".lower() for one in ids for part in ("", *(f".runtime.{rid}" for rid in targets()))}
    whole, version = name.lower().removesuffix(".nupkg"), f".{semantic_version(config.project.version).lower()}"
    if whole.removesuffix(version) in ours and whole.endswith(version):
        return ""
    return (
        f"not of version {config.project.version}" if _VERSION_AFTER_ID.sub("", whole) in ours else "of another project"
    )


def _not_our_npm(name: str, config: Config) -> str:
    """Judged by name, which is that of the main package or of one target."""
    names = [package.npm.name for package in config.packages.values() if package.npm is not None]
    every = [one for main in names for one in (main, *(npm_target(main, rid) for rid in targets()))]
    ours = [npm_file(one, config.project.version) for one in every]
    if name in ours:
        return ""
    stems = {one.removesuffix(f"-{npm_version(config.project.version)}.tgz") for one in ours}
    other = any(re.fullmatch(rf"{re.escape(stem)}-\d+\.\d+\.\d+(-.*)?\.tgz", name) for stem in stems)
    return f"not of version {config.project.version}" if other else "of another project"


def _not_our_sdk(name: str, config: Config) -> str:
    """Judged by name, which has the version and the target."""
    if name in {sdk_file(config, rid) for rid in targets()}:
        return ""
    other = name.startswith(f"{config.project.name}-")
    return f"not of version {config.project.version}" if other else "of another project"


def wheels_for(rid: Rid, artifacts: Iterable[Artifact]) -> list[Artifact]:
    """The wheels that install on a target, by the platform tags in their names."""
    row = target(rid)
    return [one for one in artifacts if one.kind == "wheel" and any(installs(row, tag) for tag in _tags(one.path))]


def _tags(wheel: Path) -> set[str]:
    try:
        *_, tags = parse_wheel_filename(wheel.name)
    except InvalidWheelFilename:  # the installer will report what is wrong with it
        return {"any"}
    return {tag.platform for tag in tags}

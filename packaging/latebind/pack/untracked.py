"""Finds the files in packages, and those that native and managed code is compiled from, that git does not track."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from latebind.backend.stage import Stage
from latebind.backend.tree import hash_file
from latebind.config.project import Project
from latebind.formats import find_format
from latebind.native.sources import list_forced, list_inputs, list_wheel_sources
from latebind.system.git import list_tracked
from loadcheck.facts import iter_members


def list_untracked(project: Project, stages: Sequence[Stage], packages: Iterable[Path]) -> tuple[str, ...]:
    """The files of the work tree that packages are made from and no commit has, from the configuration's folder.

    What is compiled is found by its place, and what a wheel's backend chooses by its content in the packages. The
    native files of a build are its outputs, and so is what the project declares as hatchling's `artifacts`. Where git
    cannot say what it tracks, nothing is known.
    """
    tracked = list_tracked(project.config.root)
    if tracked is None:
        return ()
    inputs, chosen = list_inputs(project), {**list_wheel_sources(project), **list_forced(project)}
    lacking = {name for name, path in inputs.items() if path.resolve() not in tracked}
    open_names = [name for name, path in chosen.items() if name not in inputs and path.resolve() not in tracked]
    if open_names:
        explained = {
            *((path.name, hash_file(path)) for path in chosen.values() if path.resolve() in tracked),
            *((posixpath.basename(file.path), file.sha256) for stage in stages for file in stage.manifest.files),
        }
        packed = set(_hash_members(packages, {chosen[name].name for name in open_names})) - explained
        found = (name for name in open_names if (chosen[name].name, hash_file(chosen[name])) in packed)
        lacking |= {name for name in found if not _is_declared(project, chosen[name])}
    return tuple(sorted(lacking))


def _hash_members(packages: Iterable[Path], names: set[str]) -> Iterator[tuple[str, str]]:
    """The name and the hash of each file with one of those names, in any folder of a package."""
    for package in packages:
        form = find_format(package.name)
        for member, read in iter_members(package, form) if form is not None else ():
            if (name := posixpath.basename(member)) in names:
                yield name, hashlib.sha256(read()).hexdigest()


def _is_declared(project: Project, path: Path) -> bool:
    """Whether the project declares a file as made by its own build steps, in the way of hatchling."""
    from hatchling.builders.wheel import WheelBuilder  # noqa: PLC0415  # slow, and asked for few files

    sources = (project.config.root / source for source in project.config.wheel_sources.values())
    return any(
        WheelBuilder(str(source)).config.path_is_artifact(path.relative_to(source).as_posix())
        for source in sources
        if path.is_relative_to(source)
    )

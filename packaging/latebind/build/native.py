"""Drives CMake: one build tree per target, one install per component, into the stage; does nothing twice."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING

from latebind import __version__
from latebind.build.stage import Stage, open_stage, swap_in, write_manifest
from latebind.build.toolchain import CMAKE_REQUIREMENT, NINJA_REQUIREMENT, Toolchain, require, toolchain
from latebind.errors import BuildError, ToolError
from latebind.log import LOG
from latebind.resources import cmake_dir
from latebind.run import run

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config import Config, TomlValue
    from latebind.model import Target

_IGNORED = frozenset({".git", "__pycache__", ".DS_Store"})
_TIME_LIMIT = 1800.0
_LITTLE_ROOM = 2 * 1024 * 1024


def stage_target(config: Config, target: Target, workdir: Path) -> Stage:
    """The stage of a target, built when what it is made from has changed since the last build.

    A failed or interrupted build leaves an earlier stage as it was.

    Files that were imported are kept for as long as the sources are the same.

    Raises BuildError or ToolError with CMake's words; NotRun when there is no compiler for the target.
    """
    source_hash = hash_sources(config)
    root = workdir / "stage" / target.rid
    found = open_stage(root)
    if found is not None and found.manifest.imported and found.manifest.source_hash == source_hash:
        LOG.detail(f"{target.rid}: the stage was imported")
        return found
    chosen = toolchain(config.toolchain(target.rid), target)
    floor = config.floor(target)
    identity = chosen.identity()
    key = _digest([source_hash, identity, target.rid, floor, __version__])
    if found is not None and found.manifest.key == key:
        LOG.detail(f"{target.rid}: the stage is up to date")
        return found
    with LOG.step(f"build {target.rid} with {identity}"):
        aside = root.with_name(f".{target.rid}.{os.getpid()}.part")
        shutil.rmtree(aside, ignore_errors=True)
        try:
            _build(config, target, floor, chosen, workdir, aside)
            write_manifest(aside, rid=target.rid, key=key, source_hash=source_hash, toolchain=identity, floor=floor)
            _require_libraries(config, aside)
            swap_in(aside, root)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    staged = open_stage(root)
    if staged is None:
        raise BuildError("the stage changed while it was written", where=str(root), advice="Run the build again.")
    return staged


def hash_sources(config: Config) -> str:
    """A hash of all that the native files are made from, but for the compiler: sources, loader, settings."""
    settings = {
        "version": config.project.version,
        "define": config.document.native.define,
        "runtimes": {use.preset: use.minimum for use in config.document.runtime},
        "components": sorted({package.component for package in config.packages.values()}),
    }
    text = json.dumps(settings, sort_keys=True)
    return _digest([text, hash_tree(config.native_source), hash_tree(loader_dir(config))])


def loader_dir(config: Config) -> Path:
    """The loader that a project builds with: the copy that its sdist carries, else this latebind's own."""
    carried = config.root / "loader"
    return carried if (config.root / "PKG-INFO").is_file() and carried.is_dir() else cmake_dir()


def hash_tree(root: Path) -> str:
    """A hash of the names and contents of all files below a folder; times, modes and its place do not count."""
    digest = hashlib.sha256()
    for path in list_tree(root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def list_tree(root: Path) -> list[Path]:
    """The source files below a folder, sorted by their name from there."""
    found: list[Path] = []
    for folder, folders, files in os.walk(root):
        folders[:] = set(folders) - _IGNORED
        found += [root / folder / name for name in files if name not in _IGNORED and not name.endswith(".pyc")]
    return sorted(found, key=lambda path: path.relative_to(root).as_posix())


def _build(  # noqa: PLR0913  # the six things that a build is a function of
    config: Config, target: Target, floor: str, chosen: Toolchain, workdir: Path, prefix: Path
) -> None:
    cmake = require("cmake", CMAKE_REQUIREMENT)
    ninja = require("ninja", NINJA_REQUIREMENT)
    tree = workdir / "build" / target.rid
    _discard_moved(tree, config.native_source)
    tree.mkdir(parents=True, exist_ok=True)
    environment = chosen.environment()
    log = workdir / "build" / f"{target.rid}.log"
    log.unlink(missing_ok=True)
    arguments = [
        *chosen.configure(target, floor, tree),
        f"-DCMAKE_MAKE_PROGRAM={ninja}",
        "-DCMAKE_BUILD_TYPE=Release",
        f"-Dlatebind_DIR={loader_dir(config)}",
        f"-DLATEBIND_PROJECT_VERSION={config.project.version}",
        *(f"-DLATEBIND_MINIMUM_{use.preset}={use.minimum}" for use in config.document.runtime),
        *(f"-D{name}={_cmake_value(value)}" for name, value in config.document.native.define.items()),
    ]
    steps: list[list[str | Path]] = [
        [cmake, "-S", config.native_source, "-B", tree, "-G", "Ninja", *arguments],
        [cmake, "--build", tree],
    ]
    components = dict.fromkeys(package.component for package in config.packages.values())
    steps += [[cmake, "--install", tree, "--component", one, "--prefix", prefix / one] for one in components]
    for step in steps:
        try:
            run(step, env=environment, timeout=_TIME_LIMIT, log=log)
        except ToolError as error:
            advice = _full_disk(workdir) or f"Mend what CMake says; the whole log is {log}."
            raise BuildError(f"the native build for {target.rid} failed: {error.message}", advice=advice) from error


def _require_libraries(config: Config, aside: Path) -> None:
    """Refuse a stage that lacks the library of a package before it takes an earlier one's place."""
    stage = open_stage(aside)
    for package in config.packages.values():
        if stage is not None:
            stage.libraries(package.component)


def _full_disk(folder: Path) -> str:
    """Compilers die without a word when the disk is full, so look after them."""
    free = shutil.disk_usage(folder).free
    if free > _LITTLE_ROOM:
        return ""
    return f"The disk is full: {free // 1024} KiB are left where {folder} is. Free some room and run the command again."


def _discard_moved(tree: Path, source: Path) -> None:
    """CMake refuses a build tree whose source or own folder has moved: start afresh then."""
    cache = tree / "CMakeCache.txt"
    if cache.is_file():
        text = cache.read_text("utf-8", "replace")
        here = f"CMAKE_HOME_DIRECTORY:INTERNAL={source.as_posix()}\n"
        if here not in text or f"CMAKE_CACHEFILE_DIR:INTERNAL={tree.as_posix()}\n" not in text:
            shutil.rmtree(tree)


def _cmake_value(value: TomlValue) -> str:
    return ("ON" if value else "OFF") if isinstance(value, bool) else str(value)


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()

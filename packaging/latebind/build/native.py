"""Drives CMake: one build tree per target, one install per component, into the stage; does nothing twice."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING

from latebind.build.codemodel import read_codemodel, request_codemodel
from latebind.build.diagnostics import first_errors, relative, without_commands
from latebind.build.extension import extension
from latebind.build.inputs import Sources, read_inputs
from latebind.build.loadersource import write_sources
from latebind.build.promise import refuse_unexported
from latebind.build.sources import hash_sources, loader_dir, native_files
from latebind.build.stage import Stage, open_stage, swap_in, write_manifest
from latebind.build.toolchain import CMAKE_REQUIREMENT, NINJA_REQUIREMENT, Toolchain, require, toolchain
from latebind.errors import BuildError
from latebind.fingerprint import fingerprint
from latebind.system.log import LOG
from latebind.system.run import run, shown, tail
from latebind.tables.targets import target as find_target

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from latebind.build.extension import Extension
    from latebind.build.stage import Manifest
    from latebind.config.config import Config
    from latebind.config.document import TomlValue
    from latebind.model import Target
    from latebind.system.run import Completed

_TIME_LIMIT = 1800.0
ELSEWHERE = ("audit", "verify", "release", "adopt", "commands", "cli.py", "doctor.py", "reproduce.py")
"""What of latebind building and packing cannot reach: the layers in pyproject.toml keep it out."""
_DESCRIBED = "latebind-runtimes"
"""The folder in a build tree for headers and sources of the runtimes that the project describes itself."""
_LITTLE_ROOM = 2 * 1024 * 1024


def stage_target(config: Config, target: Target, workdir: Path) -> Stage:
    """The stage of a target, built when what it is made from has changed since the last build.

    A failed or interrupted build leaves an earlier stage as it was.

    Files that were imported are kept for as long as the sources are the same.

    Raises BuildError or ToolError with CMake's words, BuildError for imported files of another floor; NotRun when there
    is no compiler for the target.
    """
    source_hash, floor = hash_sources(config, workdir), config.floor(target)
    root = workdir / "stage" / target.rid
    found = open_stage(root)
    if found is not None and _is_current_import(found, source_hash):
        LOG.detail(f"{target.rid}: the stage was imported")
        refuse_floor(config, found.manifest, str(root))
        return found
    chosen = toolchain(config.toolchain(target.rid), target)
    identity = chosen.identity()
    python = extension(config.module_kind, target, chosen) if config.module_kind else None
    own = [python.identity] if python else []
    # Not in the source hash: exports change no byte of the files, and are held against them after a build.
    exports = json.dumps([package.exports for package in config.packages.values()])
    key = _digest([source_hash, chosen.fingerprint(), target.rid, floor, fingerprint(*ELSEWHERE), exports, *own])
    identity = f"{identity}, {python.origin}" if python else identity
    if found is not None and found.manifest.key == key:
        LOG.detail(f"{target.rid}: the stage is up to date")
        return found
    with LOG.step(f"building {target.rid} with {identity}", f"built {target.rid}"):
        aside = root.with_name(f".{target.rid}.{os.getpid()}.part")
        shutil.rmtree(aside, ignore_errors=True)
        try:
            _build(config, target, floor, chosen, python, workdir, aside)
            write_manifest(aside, rid=target.rid, key=key, source_hash=source_hash, toolchain=identity, floor=floor)
            _require_libraries(config, python, aside)
            swap_in(aside, root)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    staged = open_stage(root)
    if staged is None:
        raise BuildError("the stage changed while it was written", where=str(root), advice="Run the build again.")
    return staged


def needs_compiler(config: Config, target: Target, workdir: Path) -> bool:
    """Whether stage_target() would look for a compiler: there is no import of the present sources."""
    found = open_stage(workdir / "stage" / target.rid)
    return found is None or not _is_current_import(found, hash_sources(config, workdir))


def _is_current_import(stage: Stage, source_hash: str) -> bool:
    return stage.manifest.imported and stage.manifest.source_hash == source_hash


def build_with_symbols(config: Config, target: Target, workdir: Path, prefix: Path) -> None:
    """Build a target once more, with debug information that is kept, and install its components below `prefix`.

    Raises BuildError, ToolError and NotRun as stage_target does.
    """
    chosen = toolchain(config.toolchain(target.rid), target)
    python = extension(config.module_kind, target, chosen) if config.module_kind else None
    with LOG.step(f"building {target.rid} with debug symbols", f"built {target.rid} with debug symbols"):
        _build(config, target, config.floor(target), chosen, python, workdir, prefix, symbols=True)


def refuse_floor(config: Config, manifest: Manifest, where: str) -> None:
    """Refuse native files that came from elsewhere with another floor than the project's, which its packages promise.

    Raises BuildError.
    """
    floor = config.floor(find_target(manifest.rid))
    if manifest.floor != floor:
        raise BuildError(
            f"the native files of {manifest.rid} are for floor {manifest.floor or 'none'}, and the project's is "
            f"{floor or 'none'}",
            where=where,
            advice=f"Build and import them again, or write that floor below [targets] in {config.file.name}.",
        )


def _build(  # noqa: PLR0913  # the things that a build is a function of
    config: Config,
    target: Target,
    floor: str,
    chosen: Toolchain,
    python: Extension | None,
    workdir: Path,
    prefix: Path,
    *,
    symbols: bool = False,
) -> None:
    cmake = require("cmake", CMAKE_REQUIREMENT)
    ninja = require("ninja", NINJA_REQUIREMENT)
    made = workdir / "build"
    tree = made / (f"{target.rid}.symbols" if symbols else target.rid)
    log = made / f"{tree.name}.log"
    arguments = [
        *chosen.configure(target, floor, made / f"{tree.name}.toolchain"),
        f"-DCMAKE_MAKE_PROGRAM={ninja}",
        "-DCMAKE_BUILD_TYPE=Release",
        f"-Dlatebind_DIR={loader_dir(config)}",
        f"-DLATEBIND_PROJECT_VERSION={config.project.version}",
        *(f"-DLATEBIND_MINIMUM_{use.name}={use.minimum}" for use in config.document.runtime),
        *(
            [f"-DLATEBIND_DESCRIBED={tree / _DESCRIBED}"]
            if any(use.describe for use in config.document.runtime)
            else []
        ),
        *(f"-D{name}={_cmake_value(value)}" for name, value in config.document.native.define.items()),
    ]
    if config.module_kind:
        place = made / f"{tree.name}.python"
        arguments += python.configure(place) if python else ["-DLATEBIND_PYTHON_KIND=none"]
    if symbols:
        arguments += ["-DLATEBIND_SYMBOLS=ON", *chosen.symbols(target, made / f"{tree.name}.toolchain", made)]
    whose = [chosen.fingerprint(), python.identity if python else "", target.rid, floor]
    stamp = _digest([*whose, str(config.native_source), str(tree), *arguments])
    _start_afresh(tree, stamp)
    write_sources(config, tree / _DESCRIBED)
    log.unlink(missing_ok=True)

    def step(*words: str | Path) -> None:
        ended = run([cmake, *words], env=chosen.environment(made), timeout=_TIME_LIMIT, log=log, check=False)
        if ended.returncode != 0:
            raise _failure(config, target, ended, log)

    request_codemodel(tree)
    step("-S", config.native_source, "-B", tree, "-G", "Ninja", *arguments)
    sources = Sources(config, native_files(config, workdir), made)
    model = read_codemodel(ninja, tree, config.native_source)
    components = _components(config, python)
    _refuse_missing_components(config, components, model.components)
    sources.refuse_outside(model.files)
    sources.note_outside(model.searched)
    step("--build", tree)
    for one in components:
        step("--install", tree, "--component", one, "--prefix", prefix / one)
    sources.refuse_outside(read_inputs(ninja, tree))


def _failure(config: Config, target: Target, ended: Completed, log: Path) -> BuildError:
    """The error of a failed CMake step: the first errors, then the rest; the commands only with `--verbose`."""
    command = ""
    output = ended.output
    if LOG.level == "verbose":
        command = f": {shown(ended.argv)}"
    else:
        output = without_commands(output)
    errors = first_errors(ended.output, config.root, config.native_source)
    headline = f"the native build for {target.rid} failed with status {ended.returncode}{command}"
    lines = [*errors, headline, tail(relative(output, config.root))]
    advice = _full_disk(log.parent) or f"Correct it and run the command again. The whole log is {log}."
    return BuildError("\n".join(lines), advice=advice)


def _refuse_missing_components(config: Config, wanted: Sequence[str], existing: Sequence[str]) -> None:
    for package, row in config.packages.items():
        if row.component in wanted and row.component not in existing:
            raise BuildError(
                f"package.{package}.component: no install() rule has COMPONENT {row.component}",
                where=config.file.name,
                advice=f"The CMake project installs: {', '.join(existing) or 'nothing'}. Name one of these, or add "
                f"install(TARGETS ... COMPONENT {row.component}).",
            )


def _start_afresh(tree: Path, stamp: str) -> None:
    """Empty a build tree that was made otherwise: CMake's cache would keep an old compiler and removed definitions."""
    mark = tree / ".latebind"
    if not mark.is_file() or mark.read_bytes() != stamp.encode():
        if tree.exists():
            shutil.rmtree(tree)
        tree.mkdir(parents=True)
        mark.write_text(stamp, encoding="utf-8")


def _packages(config: Config, python: Extension | None) -> list[str]:
    """The packages that a target has: all but modules that only a machine of the target can build."""
    return [name for name in config.packages if python is not None or config.wheel_kind(name) != "cpython"]


def _components(config: Config, python: Extension | None) -> list[str]:
    """What is installed for a target."""
    return list(dict.fromkeys(config.packages[name].component for name in _packages(config, python)))


def _require_libraries(config: Config, python: Extension | None, aside: Path) -> None:
    """Refuse a stage that lacks a library or an export of a package before it takes an earlier one's place."""
    stage = open_stage(aside)
    if stage is not None:
        for name in _packages(config, python):
            refuse_unexported(config, name, stage)


def _full_disk(folder: Path) -> str:
    """Compilers die without a word when the disk is full, so look after them."""
    free = shutil.disk_usage(folder).free
    if free > _LITTLE_ROOM:
        return ""
    return f"The disk is full: {free // 1024} KiB are left where {folder} is. Free some room and run the command again."


def _cmake_value(value: TomlValue) -> str:
    return ("ON" if value else "OFF") if isinstance(value, bool) else str(value)


def _digest(parts: list[str]) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()

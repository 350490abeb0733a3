"""Makes the stage of a target: builds it when its inputs have changed; imported files stay while they are current."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from latebind.backend.files import digest
from latebind.backend.stage import Stage, StageManifest, describe_files, open_stage, write_manifest
from latebind.backend.targets import Target
from latebind.backend.targets import target as find_target
from latebind.config.config import Config
from latebind.config.project import Project
from latebind.errors import BuildError
from latebind.fingerprint import hash_code
from latebind.native.inside import refuse_links_outside
from latebind.native.nativebuild import NativeBuild, native_build
from latebind.native.nativerecipe import hash_sources
from latebind.native.promise import refuse_unexported
from latebind.system.folders import new_folder
from latebind.system.log import LOG
from latebind.system.parallel import each
from latebind.text import plural


def stage_target(project: Project, target: Target) -> Stage:
    """The stage of a target, built when what it is made from has changed since the last build.

    A failed or interrupted build leaves the earlier stage unchanged. Imported files are kept for as long as the sources
    are the same.

    Raises BuildError or ToolError with the compiler's messages, BuildError for imported files of another floor; NotRun
    when there is no compiler for the target.
    """
    config, source_hash = project.config, hash_sources(project)
    root = project.workdir / "stage" / target.rid
    stage = open_stage(root)
    if stage is not None and _is_current_import(stage, source_hash):
        LOG.detail(f"{target.rid}: the stage was imported")
        refuse_floor(config, stage.manifest, str(root))
        return stage
    if config.is_built_elsewhere:
        raise BuildError(
            f"your own build makes the native files of {target.rid}, but "
            + ("those in the stage are from other sources" if stage is not None else "none were imported"),
            where=f"{config.file.name}: native.build",
            advice=f"Build them, and run: latebind stage --import FILE --target {target.rid}",
        )
    build = native_build(project, target)
    key = _key(build, source_hash)
    if stage is not None and stage.manifest.key == key:
        LOG.detail(f"{target.rid}: the stage is up to date")
        return stage
    with LOG.step(f"building {target.rid} with {build.identity}", f"built {target.rid}"), new_folder(root) as aside:
        build.install(aside)
        _refuse_links(config.root, aside)
        manifest = StageManifest(
            rid=target.rid, key=key, source_hash=source_hash, toolchain=build.identity, floor=config.floor(target),
            files=describe_files(aside),
        )  # fmt: skip
        made = write_manifest(aside, manifest)
        for name in build.packages:  # a stage that lacks a library or an export replaces no earlier one
            refuse_unexported(config, name, made)
    stage = Stage(root=root, manifest=manifest)
    _report_links(stage)
    return stage


def stage_targets(project: Project, rids: Sequence[str]) -> list[Stage]:
    """The stage of each target, as stage_target() makes it."""
    with LOG.step(f"building {plural(len(rids), 'target')}", total=len(rids)) as finished:
        return each(lambda rid: stage_target(project, find_target(rid)), rids, finished=finished)


def needs_compiler(project: Project, target: Target) -> bool:
    """Whether stage_target() would look for a compiler: no files for the present sources were imported."""
    if project.config.is_built_elsewhere:
        return False
    stage = open_stage(project.workdir / "stage" / target.rid)
    return stage is None or not _is_current_import(stage, hash_sources(project))


def build_with_symbols(project: Project, target: Target, prefix: Path) -> None:
    """Build a target once more, with debug information that is kept, and install its components below `prefix`.

    Raises BuildError, ToolError and NotRun as stage_target does.
    """
    build = native_build(project, target)
    with LOG.step(f"building {target.rid} with debug symbols", f"built {target.rid} with debug symbols"):
        build.install(prefix, "debug")


@contextmanager
def apply_soversion(project: Project, stage: Stage) -> Iterator[Stage]:
    """The stage with the SONAMEs that `sdk.soversion` asks for: built once more where it does, else the same.

    Raises BuildError, ToolError and NotRun as stage_target does; BuildError for files that were built elsewhere.
    """
    config, platform = project.config, find_target(stage.rid)
    if config.soversion is None or platform.system == "windows":
        yield stage
        return
    if stage.manifest.imported:
        raise BuildError(
            f"sdk.soversion needs a build of {stage.rid}, but its files were imported",
            where=config.file.name,
            advice="Set the version of the SONAME in your own build (CMake: SOVERSION), and remove soversion.",
        )
    build = native_build(project, platform)
    with tempfile.TemporaryDirectory(prefix=f".{stage.rid}-sdk-", dir=build.build.folder) as aside:
        prefix = Path(aside) / stage.rid
        with LOG.step(f"building {stage.rid} for its SDK", f"built {stage.rid} for its SDK"):
            build.install(prefix, "versioned")
        _refuse_links(config.root, prefix)
        yield write_manifest(prefix, replace(stage.manifest, files=describe_files(prefix)))


def refuse_floor(config: Config, manifest: StageManifest, where: str) -> None:
    """Refuse native files that were built elsewhere for another floor than the project's. Raises BuildError."""
    platform = find_target(manifest.rid)
    floor, title = config.floor(platform), platform.libc_title
    if manifest.floor != floor:
        raise BuildError(
            f"the native files of {manifest.rid} are for {title} {manifest.floor or 'of any version'}, but the project "
            f"promises {floor or 'any version'}",
            where=where,
            advice=f"Build and import them again, or write that version below [targets] in {config.file.name}.",
        )


def _is_current_import(stage: Stage, source_hash: str) -> bool:
    return stage.manifest.imported and stage.manifest.source_hash == source_hash


def _key(native: NativeBuild, source_hash: str) -> str:
    # Not in the source hash: exports change no byte of the files; they are checked after a build.
    exports = json.dumps([package.exports for package in native.config.packages.values()])
    build, python_identity = native.build, [python.identity for python in native.pythons]
    made_by = [build.toolchain.fingerprint(), hash_code()]
    excluded = sorted(native.config.excluded(build.target.rid))
    return digest([source_hash, build.floor, build.target.rid, exports, *made_by, *python_identity, *excluded])


def _refuse_links(root: Path, prefix: Path) -> None:
    """Refuse links that CMake installed as links, and that lead to another file of this machine. Raises BuildError."""
    files = (path for path in prefix.rglob("*") if path.is_file())
    refuse_links_outside(root, files, "install() of CMake", named=prefix.resolve())


def _report_links(stage: Stage) -> None:
    """Name the libraries that packages hold under one name of several: code that opens another name fails."""
    for shipped in sorted(set(stage.links.values())):
        others = ", ".join(sorted(path.name for path, target in stage.links.items() if target == shipped))
        LOG.say(
            f"{stage.rid}: packages contain {shipped.name}, the library's SONAME, but not the links to it: {others} "
            "(an SDK has them)"
        )
        LOG.say("  help: open the library by its SONAME, or write CMAKE_PLATFORM_NO_VERSIONED_SONAME = true below")
        LOG.say("  [native.define], which makes CMake ignore VERSION and SOVERSION")

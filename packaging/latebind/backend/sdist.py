"""An unpacked sdist: the native code, the loader and the recipe in it, and the stage that is built from them."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.backend.cmake import Build, build_component, hash_native
from latebind.backend.errors import BuildError
from latebind.backend.extension import extension, refuse_foreign
from latebind.backend.notes import NOTES
from latebind.backend.recipe import (
    BACKEND,
    CONFIG,
    LOADER,
    NATIVE,
    PYPROJECT,
    STAGE_VARIABLE,
    TARGET_VARIABLE,
    read_generated,
    read_recipe,
)
from latebind.backend.stage import Stage, StageManifest, describe_files, open_stage, write_manifest
from latebind.backend.targets import target
from latebind.backend.toolchain import installers_toolchain, missing_requirements, toolchain
from latebind.backend.tree import list_tree

if TYPE_CHECKING:
    from latebind.backend.hooks import BuildHook


class UnpackedSdist:
    """Where the build hook finds everything. A tree of latebind's has its own class with these methods."""

    is_sdist = True

    def __init__(self, root: Path) -> None:
        self.root = root
        self.native, self.wheel = read_recipe(root / BACKEND)
        self.loader = root / LOADER
        self.kind = self.wheel.kind

    @cached_property
    def _files(self) -> list[Path]:
        return list_tree(self.root / NATIVE)

    def prepare(self, hook: BuildHook) -> None:
        """Nothing: `latebind pack` has checked the sdist."""

    def toolchain(self, rid: str) -> str:
        """The compiler of the user who installs it; `latebind pack` names a target."""
        configured, platform = self.native.targets[target(rid).rid].toolchain, target(rid)
        if TARGET_VARIABLE in os.environ:
            return configured
        return installers_toolchain(configured, platform, self._files, is_sdist=True)

    def list_requirements(self, rid: str, target_name: str) -> list[str]:
        """Build requirements: only what this machine lacks."""
        is_built = target_name != "sdist" and STAGE_VARIABLE not in os.environ
        return missing_requirements(self.toolchain(rid)) if is_built else []

    def stage(self, rid: str, kind: str, scratch: Path) -> Stage:
        """The native files for a target, which are built in `scratch`.

        Raises BuildError with the first errors, ToolError and NotRun.
        """
        refuse_foreign(kind, rid)
        source_hash = hash_native(self.native, self.root / NATIVE, self._files)
        if STAGE_VARIABLE in os.environ:
            return _open_given(Path(os.environ[STAGE_VARIABLE]), source_hash)
        platform = target(rid)
        build = Build(
            recipe=self.native,
            target=platform,
            toolchain=toolchain(self.toolchain(rid), platform),
            root=self.root,
            native=self.root / NATIVE,
            files=self._files,
            generated=read_generated(self.root / BACKEND),
            loader=self.loader,
            folder=scratch,
        )
        modules = self.native.module_kind
        python = extension(modules, platform, build.toolchain) if modules else None
        identity = build.identify([python.title] if python else [])
        NOTES.info("building %s with %s …", rid, identity)
        prefix = build_component(build, self.wheel.component, python)
        manifest = StageManifest(
            rid=platform.rid, key="", source_hash=source_hash, toolchain=identity, floor=build.floor,
            files=describe_files(prefix),
        )  # fmt: skip
        return write_manifest(prefix, manifest)

    def check(self, stage: Stage, libraries: tuple[Path, ...], *, is_promised: bool) -> None:
        """Nothing: latebind checked what these sources give with zig; another compiler's wheel is for this machine."""

    def read_license(self) -> bytes:
        """The project's license, for a wheel whose pyproject.toml names none."""
        return (self.root / BACKEND / "licenses" / self.wheel.license_file).read_bytes()

    def list_files(self, scratch: Path) -> dict[str, str]:  # noqa: ARG002  # a tree writes some of them
        """The files of an sdist, each with its place in it: all of this one."""
        return {str(self.root / name): name for name in (NATIVE, LOADER, BACKEND, CONFIG, PYPROJECT)}


def _open_given(root: Path, source_hash: str) -> Stage:
    stage = open_stage(root)
    if stage is None or stage.manifest.source_hash != source_hash:
        raise BuildError("the stage was made from other sources than the sdist has", where=str(root))
    return stage

"""The two hatchling hooks of an sdist: one for metadata, one that puts the native files into the wheel.

A project's pyproject.toml names `latebind` below [tool.hatch.metadata.hooks] and [tool.hatch.build.hooks].
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface
from hatchling.plugin import hookimpl
from packaging.tags import platform_tags

from latebind.backend.errors import BuildError
from latebind.backend.extension import refuse_foreign, refuse_interpreter
from latebind.backend.files import write_text
from latebind.backend.fill import fill
from latebind.backend.kinds import abi_tags, fits
from latebind.backend.notices import add_notices, notices
from latebind.backend.recipe import HOOK_GROUP, KIND_VARIABLE, PYPROJECT, TARGET_VARIABLE, WheelRecipe, hook_entry
from latebind.backend.sbom import SBOM_FILE, Bill, list_libraries, list_tools, render_bill
from latebind.backend.sdist import UnpackedSdist
from latebind.backend.stage import WHEEL_MANIFEST, Stage, manifest_of
from latebind.backend.targets import host_rid, target, wheel_tag
from latebind.backend.toolchain import TOOLCHAIN_VARIABLE
from latebind.backend.wheelfile import name_unix

METADATA_VERSION = "2.4"
"""The first version of core metadata with SPDX licenses (PEP 639). hatchling writes the latest that it knows, and twine
6.0 to 6.2 refuse 2.5."""


class Source(Protocol):
    """Where the hook finds what it packs: an unpacked sdist, or the tree of a project."""

    @property
    def is_sdist(self) -> bool:
        """Whether it is an unpacked sdist."""

    @property
    def loader(self) -> Path:
        """The folder of the loader."""

    @property
    def wheel(self) -> WheelRecipe:
        """What the wheel has besides what hatchling puts into it."""

    @property
    def kind(self) -> str:
        """The kind of the wheel where none is named."""

    def prepare(self, hook: BuildHook) -> None:
        """Check the project, before hatchling collects its files."""

    def toolchain(self, rid: str) -> str:
        """The compiler for a target: `zig` or `host`."""

    def list_requirements(self, rid: str, target_name: str) -> list[str]:
        """Build requirements: only what this machine lacks."""

    def stage(self, rid: str, kind: str, scratch: Path) -> Stage:
        """The native files for a target."""

    def check(self, stage: Stage, libraries: tuple[Path, ...], *, is_promised: bool) -> None:
        """Check the libraries of a wheel; `is_promised` is whether its tag names the oldest system."""

    def read_license(self) -> bytes:
        """The project's license, for a wheel whose pyproject.toml names none."""

    def list_files(self, scratch: Path) -> dict[str, str]:
        """What an sdist has besides hatchling's files: each file or folder, with its place there."""


class MetadataHook(MetadataHookInterface):
    """Says which fields are empty: in an sdist hatchling reads all others from PKG-INFO."""

    PLUGIN_NAME = "latebind"

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling."""
        empty: dict[str, Any] = {"dependencies": [], "optional-dependencies": {}, "urls": {}}
        metadata.update({name: value for name, value in empty.items() if name in metadata.get("dynamic", ())})


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own configuration class
    """Puts the staged libraries of one component into the wheel, and all that a build needs into the sdist."""

    PLUGIN_NAME = "latebind"
    _notices: Mapping[str, bytes] = MappingProxyType({})

    @cached_property
    def source(self) -> Source:
        """Where everything is."""
        return UnpackedSdist(Path(self.root))

    @cached_property
    def _rid(self) -> str:
        return os.environ.get(TARGET_VARIABLE) or host_rid()

    @cached_property
    def _scratch(self) -> Path:
        """A folder for files of the distribution that the project does not have."""
        return Path(tempfile.mkdtemp(prefix="latebind-"))

    @property
    def _kind(self) -> str:
        """The kind of the wheel that is made; `latebind pack` names one where the project has several."""
        named = os.environ.get(KIND_VARIABLE, "")
        return named if named in self.source.wheel.kinds else self.source.kind

    def dependencies(self) -> list[str]:
        """Build requirements: only what this machine lacks, and nothing where an imported stage is packed."""
        return self.source.list_requirements(self._rid, self.target_name)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files."""
        self.build_config.target_config.setdefault("core-metadata-version", METADATA_VERSION)
        self.source.prepare(self)
        if self.target_name == "sdist":
            chosen = build_data["force_include"]
            chosen.pop(str(Path(self.root, PYPROJECT)), None)
            if self.build_config.ignore_vcs:
                # Hatchling still adds the repository's ignore file, where there is a repository.
                for path in [path for path, name in chosen.items() if name in (".gitignore", ".hgignore")]:
                    del chosen[path]
            chosen |= self.source.list_files(self._scratch)
            self.build_config.build_reserved_paths.update(chosen.values())
        elif self.target_name == "wheel":
            self._add_libraries(build_data, editable=version == "editable")

    def _add_libraries(self, build_data: dict[str, Any], *, editable: bool) -> None:
        source, wheel = self.source, self.source.wheel
        if why := wheel.not_made.get(self._rid, ""):
            raise BuildError(why, advice=f"Set {TARGET_VARIABLE} to a target for which the package is made.")
        refuse_foreign(self._kind, self._rid)
        stage = source.stage(self._rid, self._kind, self._scratch / "build")
        folder = self.config.get("destination") or wheel.module.replace(".", "/")
        build_data["pure_python"] = False
        libraries = _choose_libraries(wheel.component, stage, self._kind)
        build_data["tag"] = self._tag(stage, libraries)
        chosen = build_data["force_include_editable" if editable else "force_include"]
        chosen |= {str(library): f"{folder}/{library.name}" for library in libraries}
        if editable:
            chosen |= _write_search_path(folder, self._scratch)
            return
        manifest = self._scratch / Path(WHEEL_MANIFEST).name
        write_text(manifest, manifest_of(stage, libraries))
        build_data["extra_metadata"][str(manifest)] = manifest.name
        self._add_hook(folder, chosen)
        file = self._scratch / SBOM_FILE
        file.write_bytes(_render_sbom(wheel, stage))
        build_data["sbom_files"].append(str(file))
        self._notices = self.license_texts() | notices(source.loader, libraries)

    def license_texts(self) -> dict[str, bytes]:
        """The project's license_file, if pyproject.toml names no license-files and its folder has none.

        An sdist has it where hatchling doesn't find it: the wheel that is built from it has the same bytes as others.
        """
        core, name = self.metadata.core, self.source.wheel.license_file
        if not name or "license-files" in core.config or core.license_files:
            return {}
        return {name: self.source.read_license()}

    def _add_hook(self, folder: str, chosen: dict[str, str]) -> None:
        """Add the hook for PyInstaller, unless the project has its own."""
        groups = self.metadata.core.entry_points
        if HOOK_GROUP in groups:
            return
        module = folder.replace("/", ".")
        for name, text in self.source.wheel.hook.items():
            write_text(self._scratch / name, text)
            chosen[str(self._scratch / name)] = name
        groups[HOOK_GROUP] = dict([hook_entry(module)])

    def _tag(self, stage: Stage, libraries: tuple[Path, ...]) -> str:
        """The wheel's tag. Raises BuildError for a library that needs a newer system.

        An sdist that is installed with the compiler of a Linux gives a wheel for this machine only: its libraries may
        need what no table of tags covers, such as the C++ library of that compiler.
        """
        is_own = self._is_for_this_machine(stage.rid)
        self.source.check(stage, libraries, is_promised=not is_own)
        own = next(name for name in platform_tags() if name.startswith("linux_")) if is_own else ""
        return f"{abi_tags(self._kind)}-{own or wheel_tag(target(stage.rid), stage.manifest.floor)}"

    def _is_for_this_machine(self, rid: str) -> bool:
        """Whether a user installs the package here: from an sdist, or from a tree with the compiler of their choice."""
        chosen = os.environ.get(TOOLCHAIN_VARIABLE) == "host"
        is_user = TARGET_VARIABLE not in os.environ and (chosen or self.source.is_sdist)
        return is_user and target(rid).system == "linux" and self.source.toolchain(rid) == "host"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Called by hatchling when the distribution is written."""
        if self.target_name == "wheel":
            name_unix(Path(artifact_path))
            add_notices(Path(artifact_path), self._notices)
        shutil.rmtree(self._scratch, ignore_errors=True)


@hookimpl
def hatch_register_metadata_hook() -> type[MetadataHookInterface]:
    """Hatchling finds the metadata hook through this."""
    return MetadataHook


@hookimpl
def hatch_register_build_hook() -> type[BuildHookInterface]:  # type: ignore[type-arg]
    """Hatchling finds the build hook through this."""
    return BuildHook


def _choose_libraries(component: str, stage: Stage, kind: str) -> tuple[Path, ...]:
    """The libraries of a component that belong into a package's wheel of that kind. Raises BuildError for none."""
    refuse_interpreter(kind)
    modules = tuple(library for library in stage.libraries(component) if fits(kind, library.name))
    if not modules:
        library_names = ", ".join(library.name for library in stage.libraries(component))
        raise BuildError(
            f"component {component} contains no module for {abi_tags(kind)}: {library_names}",
            where=str(stage.root),
            advice="Run latebind pack with the CPython that the module was built for.",
        )
    return modules


def _write_search_path(folder: str, scratch: Path) -> dict[str, str]:
    """Two files with which Python finds them: their paths, and their names in the wheel.

    An editable wheel holds a path to the sources of the package, and the native files below `folder`.
    """
    parts = folder.split("/")
    name = f"_latebind_{'_'.join(parts)}"
    code = fill("editable.py", package=".".join(parts), parts=", ".join(f'"{part}"' for part in parts))
    for suffix, text in ((".py", code), (".pth", f"import {name}\n")):
        write_text(scratch / f"{name}{suffix}", text)
    return {str(scratch / f"{name}{suffix}"): f"{name}{suffix}" for suffix in (".py", ".pth")}


def _render_sbom(wheel: WheelRecipe, stage: Stage) -> bytes:
    bill = Bill(
        purl=wheel.purl,
        version=wheel.version,
        license=wheel.license,
        supplier=wheel.supplier,
        tools=list_tools(wheel.tool, [stage]),
        libraries=tuple(list_libraries(stage, wheel.component, wheel.companions)),
        runtimes=wheel.runtimes,
    )
    return render_bill(bill, wheel.sbom)

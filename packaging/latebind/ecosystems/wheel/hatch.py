"""The two hatchling hooks: one fills in metadata, one puts the native files into wheels and sdists.

A project's pyproject.toml names `latebind` below [tool.hatch.metadata.hooks] and [tool.hatch.build.hooks], each with
`package = "<name>"`, the package in latebind.toml that the distribution is made of.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface
from hatchling.plugin import hookimpl
from packaging.tags import platform_tags
from packaging.utils import canonicalize_name
from packaging.version import Version

from latebind.build.extension import refuse_foreign
from latebind.build.native import needs_compiler, stage_target
from latebind.build.notices import add_notices, notices
from latebind.build.promise import newer
from latebind.build.sbom import sbom, sbom_file
from latebind.build.sources import native_files
from latebind.build.stage import Stage, manifest_text
from latebind.compilers.choose import TOOLCHAIN_VARIABLE, installers_toolchain, missing_requirements
from latebind.config.config import SDIST_BACKEND, Config
from latebind.config.project import Project, find_project, read_project
from latebind.ecosystems.wheel.editable import write_search_path
from latebind.ecosystems.wheel.freezing import HOOK_GROUP, hook_entry, hook_files
from latebind.ecosystems.wheel.links import refuse_distribution_links
from latebind.ecosystems.wheel.pack import KIND_VARIABLE, TARGET_VARIABLE, metadata_fields, page_fields, wheel_libraries
from latebind.ecosystems.wheel.sdist_files import PROJECT_NAME, write_sdist_files
from latebind.errors import BuildError
from latebind.filenames import WHEEL_MANIFEST, tag
from latebind.system.lock import exclusive
from latebind.system.tree import is_generated, is_scratch
from latebind.system.wheelfile import name_unix
from latebind.tables.targets import host_rid, target, targets
from loadcheck.archive import write_text
from loadcheck.tables.pythonabi import abi_tags

WORKDIR_VARIABLE = "LATEBIND_WORKDIR"
_SDIST_LICENSES = f"{SDIST_BACKEND}/licenses"
METADATA_VERSION = "2.4"
"""The first version of core metadata with SPDX licenses (PEP 639). hatchling writes the latest that it knows, and twine
6.0 to 6.2 refuse 2.5."""


class LatebindMetadataHook(MetadataHookInterface):
    """Fills the dynamic fields: version, dependencies, optional-dependencies, urls, and what describes the project."""

    PLUGIN_NAME = "latebind"

    @cached_property
    def project(self) -> Project:
        """The project, which the build hook takes from here: one build reads it once."""
        return _read(self.root)

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling. `dependencies` in the hook's own table are kept before those that latebind adds."""
        config = self.project.config
        package = _package(config, self.config)
        fields = metadata_fields(config, package, tuple(self.config.get("dependencies", ())))
        if canonicalize_name(metadata["name"]) != canonicalize_name(config.wheel_name(package)):
            raise BuildError(
                f"the project is named {metadata['name']}, "
                f"but the wheel of {package} is named {config.wheel_name(package)}",
                where=f"{self.root}/pyproject.toml",
                advice=f"Rename the project, or set package.{package}.wheel.name in {config.file.name}.",
            )
        # In an sdist hatchling has filled the fields from PKG-INFO already, and none is dynamic any more.
        dynamic = metadata.get("dynamic", [])
        metadata.update({key: value for key, value in fields.items() if key in dynamic})
        metadata.update(page_fields(config, dynamic))


class LatebindBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own configuration class
    """Puts the staged libraries of one component into the wheel, and all that a build needs into the sdist."""

    PLUGIN_NAME = "latebind"
    _scratch: Path | None = None
    _notices: Mapping[str, bytes] = MappingProxyType({})

    @cached_property
    def _project(self) -> Project:
        """The project, with the compiler of the user who installs it; `latebind pack` names a target."""
        hook = self.metadata.hatch.metadata.hooks.get(self.PLUGIN_NAME)
        project = hook.project if isinstance(hook, LatebindMetadataHook) else _read(self.root)
        if TARGET_VARIABLE in os.environ or self.target_name == "sdist" or self._rid not in targets():
            return project
        config, sources = project.config.for_this_python(), native_files(project)
        chosen = installers_toolchain(config.toolchain(self._rid), target(self._rid), sources, is_sdist=config.unpacked)
        return dataclasses.replace(project, config=config.with_toolchain(self._rid, chosen))

    @cached_property
    def _rid(self) -> str:
        return os.environ.get(TARGET_VARIABLE) or host_rid()

    @property
    def _config(self) -> Config:
        return self._project.config

    @property
    def _kind(self) -> str:
        """The kind of the wheel that is made; `latebind pack` names one where the project has several."""
        wheel = self._config.packages[_package(self._config, self.config)].wheel
        kinds = wheel.kinds if wheel is not None else ()
        named = os.environ.get(KIND_VARIABLE, "")
        return named if named in kinds else kinds[0]

    def dependencies(self) -> list[str]:
        """Build requirements: only what this machine lacks, and nothing where an imported stage is packed."""
        if self.target_name == "sdist" or not needs_compiler(self._project, target(self._rid)):
            return []
        return missing_requirements(self._config.toolchain(self._rid))

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects files."""
        self.build_config.target_config.setdefault("core-metadata-version", METADATA_VERSION)
        self._check_metadata()
        self._leave_out()
        is_sdist = self.target_name == "sdist"
        refuse_distribution_links(self._config, self.build_config, is_sdist=is_sdist)
        if is_sdist:
            chosen = build_data["force_include"]
            chosen.pop(str(Path(self.root, PROJECT_NAME)), None)
            if self.build_config.ignore_vcs:
                # Hatchling still adds the repository's ignore file, where there is a repository.
                for path in [path for path, name in chosen.items() if name in (".gitignore", ".hgignore")]:
                    del chosen[path]
            scratch = self._scratch = Path(tempfile.mkdtemp(prefix="latebind-"))
            chosen |= write_sdist_files(self._project, Path(self.root), scratch)
            for name, text in self._license_texts().items():
                (scratch / name).write_bytes(text)
                chosen[str(scratch / name)] = f"{_SDIST_LICENSES}/{name}"
            self.build_config.build_reserved_paths.update(chosen.values())
        elif self.target_name == "wheel":
            self._add_libraries(build_data, editable=version == "editable")

    def _leave_out(self) -> None:
        """Exclude what latebind, CMake and virtual environments wrote from hatchling's own choice of files."""
        output_folders = self._project.outputs
        for parent, folders, _ in os.walk(self.root):
            paths = {name: Path(parent, name) for name in folders}
            left_out = {name for name, path in paths.items() if path.resolve() in output_folders or is_generated(path)}
            self.build_config.build_reserved_paths.update(os.path.relpath(paths[name], self.root) for name in left_out)
            folders[:] = {name for name in folders if not is_scratch(name)} - left_out

    def _check_metadata(self) -> None:
        """Refuse a distribution whose version or extras are not those of the configuration.

        Hatchling asks the metadata hook only for fields that the project declares as dynamic.
        """
        fields = metadata_fields(self._config, _package(self._config, self.config))
        core = self.metadata.core
        wrong = [] if Version(self.metadata.version) == Version(fields["version"]) else ["version"]
        extras = fields["optional-dependencies"].items()  # the project may have others of its own
        wrong += [] if extras <= core.optional_dependencies.items() else ["optional-dependencies"]
        wrong += [] if set(fields["dependencies"]) <= set(core.dependencies) else ["dependencies"]
        if wrong:
            raise BuildError(
                f"[project] and {self._config.file.name} differ in: {', '.join(wrong)}",
                where=f"{self.root}/pyproject.toml",
                advice=f"Remove these fields from [project], and list their names in `dynamic`: {', '.join(wrong)}.",
            )

    def _add_libraries(self, build_data: dict[str, Any], *, editable: bool) -> None:
        config = self._config
        package = _package(config, self.config)
        why = config.explain_not_made(package, self._rid)
        if why:
            raise BuildError(why, advice=f"Set {TARGET_VARIABLE} to a target for which the package is made.")
        refuse_foreign(self._kind, self._rid)
        with exclusive(self._project.workdir):
            stage = stage_target(self._project, target(self._rid))
        folder = self.config.get("destination") or config.module_name(package).replace(".", "/")
        build_data["pure_python"] = False
        libraries = wheel_libraries(config, package, stage, self._kind)
        build_data["tag"] = self._tag(stage, libraries)
        chosen = build_data["force_include_editable" if editable else "force_include"]
        for library in libraries:
            chosen[str(library)] = f"{folder}/{library.name}"
        self._scratch = Path(tempfile.mkdtemp(prefix="latebind-"))
        if editable:
            chosen |= write_search_path(folder, self._scratch)
        else:
            build_data["extra_metadata"][self._manifest(stage, libraries)] = Path(WHEEL_MANIFEST).name
            self._add_hook(package, folder, chosen)
            file = self._scratch / sbom_file(config)
            purl = f"pkg:pypi/{config.wheel_name(package)}@{config.project.version}"
            file.write_bytes(sbom(config, package, [stage], purl))
            build_data["sbom_files"].append(str(file))
            self._notices = self._license_texts() | notices(config, libraries)

    def _license_texts(self) -> dict[str, bytes]:
        """The project's license_file, if pyproject.toml names no license-files and its folder has none.

        An sdist has it where hatchling doesn't find it: the wheel that is built from it has the same bytes as others.
        """
        core, file = self.metadata.core, self._config.project.license_file
        if not file or "license-files" in core.config or core.license_files:
            return {}
        name = Path(file).name
        path = Path(self.root, _SDIST_LICENSES, name) if self._config.unpacked else self._config.root / file
        return {name: path.read_bytes()} if path.is_file() else {}

    def _add_hook(self, package: str, folder: str, chosen: dict[str, str]) -> None:
        """Add the hook for PyInstaller, unless the project has its own."""
        groups = self.metadata.core.entry_points
        if HOOK_GROUP in groups:
            return
        module, scratch = folder.replace("/", "."), self._scratch or Path()
        for name, text in hook_files(self._config, package, module, self.metadata.core.raw_name).items():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            write_text(scratch / name, text)
            chosen[str(scratch / name)] = name
        groups[HOOK_GROUP] = dict([hook_entry(module)])

    def _tag(self, stage: Stage, libraries: tuple[Path, ...]) -> str:
        """The wheel's tag. Raises BuildError for a library that needs a newer system.

        An sdist that is installed with the compiler of a Linux gives a wheel for this machine only: its libraries may
        need what no table of tags covers, such as the C++ library of that compiler.
        """
        kind = self._kind
        if self._is_for_this_machine(stage.rid):
            newer(stage, libraries)
            return f"{abi_tags(kind)}-{next(name for name in platform_tags() if name.startswith('linux_'))}"
        if (error := newer(stage, libraries)) is not None:
            raise error
        return tag(kind, stage.rid, stage.manifest.floor)

    def _is_for_this_machine(self, rid: str) -> bool:
        """Whether a user installs the package here: from an sdist, or from a tree with the compiler of their choice."""
        chosen = os.environ.get(TOOLCHAIN_VARIABLE) == "host"
        is_user = TARGET_VARIABLE not in os.environ and (chosen or self._config.unpacked)
        return is_user and target(rid).system == "linux" and self._config.toolchain(rid) == "host"

    def _manifest(self, stage: Stage, libraries: tuple[Path, ...]) -> str:
        """A file that records what the libraries were built from, so that `stage --import` can read the wheel."""
        staged_files = tuple(file for file in stage.manifest.files if stage.root / file.path in libraries)
        text = manifest_text(dataclasses.replace(stage.manifest, files=staged_files, key="", imported=False))
        file = (self._scratch or Path()) / Path(WHEEL_MANIFEST).name
        write_text(file, text)
        return str(file)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Called by hatchling when the distribution is written."""
        if self.target_name == "wheel":
            name_unix(Path(artifact_path))
            add_notices(Path(artifact_path), self._notices)
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)


@hookimpl
def hatch_register_metadata_hook() -> type[MetadataHookInterface]:
    """Hatchling finds the metadata hook through this."""
    return LatebindMetadataHook


@hookimpl
def hatch_register_build_hook() -> type[BuildHookInterface]:  # type: ignore[type-arg]
    """Hatchling finds the build hook through this."""
    return LatebindBuildHook


def _read(root: str) -> Project:
    workdir = os.environ.get(WORKDIR_VARIABLE)
    return read_project(*find_project(Path(root), Path(workdir) if workdir else None))


def _package(config: Config, table: dict[str, Any]) -> str:
    name = table.get("package", "")
    if name in config.wheel_sources:
        return str(name)
    names = ", ".join(config.wheel_sources)
    raise BuildError(
        f"{name!r} is not a package with a wheel in {config.file.name}",
        where="pyproject.toml, [tool.hatch.*.hooks.latebind]",
        advice=f'Write package = "...", one of: {names}.',
    )

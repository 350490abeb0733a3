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

from latebind.build.cpython import fits, refuse_foreign, refuse_interpreter
from latebind.build.inside import refuse_links_outside, refuse_named_links
from latebind.build.intree import backend_texts, sdist_pyproject
from latebind.build.native import needs_compiler, stage_target
from latebind.build.notices import add_notices, notices
from latebind.build.promise import newer, refuse_unexported
from latebind.build.sbom import SBOM_FILE, sbom
from latebind.build.sources import loader_dir, native_files
from latebind.build.stage import Stage
from latebind.compilers.choose import TOOLCHAIN_VARIABLE, installers_toolchain, missing_requirements
from latebind.config.config import SDIST_BACKEND, SDIST_LOADER, SDIST_NATIVE, Config
from latebind.config.file import FILE_NAME as CONFIG_NAME
from latebind.config.file import standalone_text
from latebind.config.project import Project, find_project, read_project
from latebind.ecosystems.wheel.metadata import (
    HOOK_GROUP,
    KIND_VARIABLE,
    TARGET_VARIABLE,
    WORKDIR_VARIABLE,
    hook_entry,
    hook_files,
    metadata_fields,
    page_fields,
    render_manifest,
)
from latebind.errors import BuildError
from latebind.filenames import WHEEL_MANIFEST, tag
from latebind.fill import fill
from latebind.system.files import write_text
from latebind.system.lock import exclusive
from latebind.system.tree import is_generated, is_scratch, list_tree
from latebind.system.wheelfile import name_unix
from latebind.tables.targets import host_rid, target, targets
from latebind.tables.wheelkinds import abi_tags

PROJECT_NAME = "pyproject.toml"
_SDIST_LICENSES = f"{SDIST_BACKEND}/licenses"
METADATA_VERSION = "2.4"
"""The first version of core metadata with SPDX licenses (PEP 639). hatchling writes the latest that it knows, and twine
6.0 to 6.2 refuse 2.5."""
_FORCED = ("force_include", "shared_data", "shared_scripts", "extra_metadata")
"""Tables of hatchling's configuration that name files and folders, wherever they are."""


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
        package = _find_package(config, self.config)
        fields = metadata_fields(config, package, tuple(self.config.get("dependencies", ())))
        if canonicalize_name(metadata["name"]) != canonicalize_name(config.wheel_name(package)):
            raise BuildError(
                f"the project is named {metadata['name']}, "
                f"but the wheel of {package} is named {config.wheel_name(package)}",
                where=f"{self.root}/pyproject.toml",
                advice='Write package = "...", the package that has this folder as wheel.source.',
            )
        # In an sdist hatchling has filled the fields from PKG-INFO already, and none is dynamic any more.
        dynamic = metadata.get("dynamic", [])
        metadata.update({key: value for key, value in fields.items() if key in dynamic})
        metadata.update(page_fields(config, dynamic))


class LatebindBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # hatchling's own configuration class
    """Puts the staged libraries of one component into the wheel, and all that a build needs into the sdist."""

    PLUGIN_NAME = "latebind"
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

    @cached_property
    def _scratch(self) -> Path:
        """A folder for files of the distribution that the project does not have."""
        return Path(tempfile.mkdtemp(prefix="latebind-"))

    @property
    def _config(self) -> Config:
        return self._project.config

    @property
    def _package(self) -> str:
        return _find_package(self._config, self.config)

    @property
    def _kind(self) -> str:
        """The kind of the wheel that is made; `latebind pack` names one where the project has several."""
        wheel = self._config.packages[self._package].wheel
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
        _refuse_links(self._config, self.build_config, is_sdist=is_sdist)
        if is_sdist:
            chosen = build_data["force_include"]
            chosen.pop(str(Path(self.root, PROJECT_NAME)), None)
            if self.build_config.ignore_vcs:
                # Hatchling still adds the repository's ignore file, where there is a repository.
                for path in [path for path, name in chosen.items() if name in (".gitignore", ".hgignore")]:
                    del chosen[path]
            chosen |= _write_sdist_files(self._project, Path(self.root), self._scratch)
            for name, text in self._license_texts().items():
                (self._scratch / name).write_bytes(text)
                chosen[str(self._scratch / name)] = f"{_SDIST_LICENSES}/{name}"
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
        fields, core = metadata_fields(self._config, self._package), self.metadata.core
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
        config, package = self._config, self._package
        if why := config.explain_not_made(package, self._rid):
            raise BuildError(why, advice=f"Set {TARGET_VARIABLE} to a target for which the package is made.")
        refuse_foreign(self._kind, self._rid)
        with exclusive(self._project.workdir):
            stage = stage_target(self._project, target(self._rid), package if config.unpacked else "")
        folder = self.config.get("destination") or config.module_name(package).replace(".", "/")
        build_data["pure_python"] = False
        libraries = _choose_libraries(config, package, stage, self._kind)
        build_data["tag"] = self._tag(stage, libraries)
        chosen = build_data["force_include_editable" if editable else "force_include"]
        chosen |= {str(library): f"{folder}/{library.name}" for library in libraries}
        if editable:
            chosen |= _write_search_path(folder, self._scratch)
        else:
            manifest = self._scratch / Path(WHEEL_MANIFEST).name
            write_text(manifest, render_manifest(stage, libraries))
            build_data["extra_metadata"][str(manifest)] = manifest.name
            self._add_hook(package, folder, chosen)
            file = self._scratch / SBOM_FILE
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
        module = folder.replace("/", ".")
        for name, text in hook_files(self._config, package, module, self.metadata.core.raw_name).items():
            write_text(self._scratch / name, text)
            chosen[str(self._scratch / name)] = name
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

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Called by hatchling when the distribution is written."""
        if self.target_name == "wheel":
            name_unix(Path(artifact_path))
            add_notices(Path(artifact_path), self._notices)
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


def _find_package(config: Config, table: dict[str, Any]) -> str:
    name = table.get("package", "")
    if name in config.wheel_sources:
        return str(name)
    names = ", ".join(config.wheel_sources)
    raise BuildError(
        f"{name!r} is not a package with a wheel in {config.file.name}",
        where="pyproject.toml, [tool.hatch.*.hooks.latebind]",
        advice=f'Write package = "...", one of: {names}.',
    )


def _choose_libraries(config: Config, package: str, stage: Stage, kind: str) -> tuple[Path, ...]:
    """The libraries of a package's component that belong into its wheel of that kind.

    Raises BuildError when there are none or they lack an export.
    """
    component = config.packages[package].component
    refuse_interpreter(kind)
    modules = tuple(library for library in stage.libraries(component) if fits(kind, library.name))
    if not modules:
        library_names = ", ".join(library.name for library in stage.libraries(component))
        raise BuildError(
            f"component {component} contains no module for {abi_tags(kind)}: {library_names}",
            where=str(stage.root),
            advice="Run latebind pack with the CPython that the module was built for.",
        )
    refuse_unexported(config, package, stage)
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


def _refuse_links(config: Config, hatch: Any, *, is_sdist: bool) -> None:
    """Raise BuildError, as refuse_links_outside() does, for a file that hatchling would pack.

    `hatch` is hatchling's configuration of the target. An sdist holds links as links, which may not lead out of it.
    """
    root, core = Path(hatch.root), hatch.builder.metadata.core
    files = [Path(file.path) for file in hatch.builder.recurse_selected_project_files()]
    refuse_links_outside(config.root, files, PROJECT_NAME, root if is_sdist else None)
    papers = [root / name for name in (core.readme_path, *core.license_files) if name]  # metadata has their text
    refuse_links_outside(config.root, papers, PROJECT_NAME)
    forced = {root / name for table in _FORCED for name in getattr(hatch, table, ())} if not is_sdist else ()
    for path in forced:
        if path.is_dir():
            refuse_links_outside(config.root, list_tree(path), PROJECT_NAME, named=path)
        else:
            refuse_links_outside(config.root, [path], PROJECT_NAME, named=path.parent)
    if not config.unpacked:
        refuse_named_links(config.root, config.named_files)


def _write_sdist_files(project: Project, root: Path, destination: Path) -> dict[str, str]:
    """Write them to a folder; each with its place in the sdist. `root` is the folder of the wheel's pyproject.toml.

    Hatchling gives a file one place, so the native code is given as a copy: parts of it may be the wheel's, too.

    Raises BuildError when pyproject.toml cannot name the backend, and for a link that leads out of the repository.
    """
    config, sources = project.config, native_files(project)
    refuse_links_outside(config.root, sources, "native.source")
    folders = {
        SDIST_NATIVE: (config.native_source, sources),
        SDIST_LOADER: (loader_dir(config), list_tree(loader_dir(config))),
    }
    for name, (source, files) in folders.items():
        for file in files:
            # Not a link: where the wheel's folder holds the native code, the archive would have hard links.
            shutil.copy2(file, _with_folder(destination / name / file.relative_to(source)))
    for name, data in backend_texts().items():
        _with_folder(destination / SDIST_BACKEND / name).write_bytes(data)
    write_text(destination / CONFIG_NAME, standalone_text(config))
    write_text(destination / PROJECT_NAME, sdist_pyproject(root / PROJECT_NAME, config.module_kind))
    return {str(destination / name): name for name in (*folders, SDIST_BACKEND, CONFIG_NAME, PROJECT_NAME)}


def _with_folder(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path

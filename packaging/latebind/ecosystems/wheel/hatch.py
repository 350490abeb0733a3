"""The two hatchling hooks in a project's tree: one fills in metadata, one puts the native files into wheels and sdists.

A project's pyproject.toml names `latebind` below [tool.hatch.metadata.hooks] and [tool.hatch.build.hooks], each with
`package = "<name>"`, the package in latebind.toml that the distribution is made of. In an unpacked sdist, which may
require latebind by name, they are those of the build backend.
"""

from __future__ import annotations

import dataclasses
import os
import shutil
from functools import cached_property
from pathlib import Path
from typing import Any

from hatchling.plugin import hookimpl
from packaging.utils import canonicalize_name
from packaging.version import Version

from latebind.backend.files import write_text
from latebind.backend.hooks import BuildHook, MetadataHook, Source
from latebind.backend.recipe import (
    BACKEND,
    CONFIG,
    LOADER,
    NATIVE,
    PYPROJECT,
    TARGET_VARIABLE,
    WheelRecipe,
    is_sdist,
    write_recipe,
)
from latebind.backend.sdist import UnpackedSdist
from latebind.backend.stage import Stage
from latebind.backend.targets import target, targets
from latebind.backend.toolchain import installers_toolchain, missing_requirements
from latebind.backend.tree import is_generated, is_scratch, list_tree
from latebind.backend.zig import ZIG_REQUIREMENT, find_zig
from latebind.config.config import Config
from latebind.config.file import standalone_text
from latebind.config.project import Project, find_project, read_project
from latebind.ecosystems.wheel.buildsystem import carried_backend, sdist_pyproject
from latebind.ecosystems.wheel.metadata import WORKDIR_VARIABLE, metadata_fields, page_fields
from latebind.ecosystems.wheel.wheelrecipe import wheel_recipe
from latebind.errors import BuildError
from latebind.native.builds import needs_compiler, stage_target
from latebind.native.inside import refuse_links_outside, refuse_named_links
from latebind.native.nativerecipe import generate_files, list_loader, native_recipe
from latebind.native.promise import newer, refuse_unexported
from latebind.native.sources import native_files
from latebind.system.lock import exclusive
from latebind.system.resources import cmake_dir

_FORCED = ("force_include", "shared_data", "shared_scripts", "extra_metadata")
"""Tables of hatchling's configuration that name files and folders, wherever they are."""
_HEADERS = (".h", ".hh", ".hpp", ".hxx")


class LatebindMetadataHook(MetadataHook):
    """Fills the dynamic fields: version, dependencies, optional-dependencies, urls, and what describes the project."""

    @cached_property
    def project(self) -> Project:
        """The project, which the build hook takes from here: one build reads it once."""
        return _read(self.root)

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling. `dependencies` in the hook's own table are kept before those that latebind adds."""
        if is_sdist(Path(self.root)):
            super().update(metadata)
            return
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
        dynamic = metadata.get("dynamic", [])
        metadata.update({key: value for key, value in fields.items() if key in dynamic})
        metadata.update(page_fields(config, dynamic))


class LatebindBuildHook(BuildHook):
    """Finds everything in a project's tree, or as the backend does in an unpacked sdist."""

    @cached_property
    def source(self) -> Source:
        """Where everything is."""
        root = Path(self.root)
        return UnpackedSdist(root) if is_sdist(root) else _Tree(self)


class _Tree:
    """The tree of a project: what the configuration says, and what it must be checked for."""

    is_sdist = False

    def __init__(self, hook: BuildHook) -> None:
        self._hook = hook
        self._root = Path(hook.root)
        self.loader = cmake_dir()

    @cached_property
    def _project(self) -> Project:
        hook = self._hook.metadata.hatch.metadata.hooks.get(BuildHook.PLUGIN_NAME)
        return hook.project if isinstance(hook, LatebindMetadataHook) else _read(str(self._root))

    @property
    def _config(self) -> Config:
        return self._project.config

    @property
    def _package(self) -> str:
        return _find_package(self._config, self._hook.config)

    @cached_property
    def wheel(self) -> WheelRecipe:
        """What the wheel has besides what hatchling puts into it."""
        module = (self._hook.config.get("destination") or self._config.module_name(self._package)).replace("/", ".")
        return wheel_recipe(self._config, self._package, module, self._hook.metadata.core.raw_name)

    @property
    def kind(self) -> str:
        """The kind of the wheel where none is named: for a target, the first one; else that of the Python that runs."""
        return self.wheel.kinds[0] if TARGET_VARIABLE in os.environ else self.wheel.kind

    def _for(self, rid: str) -> Project:
        """The project, with the compiler of the user who installs it; `latebind pack` names a target."""
        project = self._project
        if TARGET_VARIABLE in os.environ or rid not in targets():
            return project
        config, sources = project.config.for_this_python(), native_files(project)
        chosen = installers_toolchain(config.toolchain(rid), target(rid), sources, is_sdist=False)
        return dataclasses.replace(project, config=config.with_toolchain(rid, chosen))

    def toolchain(self, rid: str) -> str:
        """The compiler for a target."""
        return self._for(rid).config.toolchain(rid)

    def list_requirements(self, rid: str, target_name: str) -> list[str]:
        """Build requirements: what this machine lacks, and zig where it is to read a stub's headers for an sdist."""
        if target_name == "sdist":
            return [ZIG_REQUIREMENT] if self._has_headers_to_read() and find_zig() is None else []
        project = self._for(rid)
        return missing_requirements(project.config.toolchain(rid)) if needs_compiler(project, target(rid)) else []

    def _has_headers_to_read(self) -> bool:
        described = [runtime.describe for runtime in self._config.document.runtime if runtime.drop_in]
        named = [name for runtime in described if runtime and runtime.stub for name in runtime.stub.functions]
        return any(name.lower().endswith(_HEADERS) for name in named)

    def stage(self, rid: str, kind: str, scratch: Path) -> Stage:  # noqa: ARG002  # an sdist has no folder of stages
        """The native files for a target."""
        with exclusive(self._project.workdir):
            return stage_target(self._for(rid), target(rid))

    def check(self, stage: Stage, libraries: tuple[Path, ...], *, is_promised: bool) -> None:
        """Refuse libraries of another machine, that lack an export, or that need a newer system than is promised."""
        refuse_unexported(self._config, self._package, stage)
        if (error := newer(stage, libraries)) is not None and is_promised:
            raise error

    def read_license(self) -> bytes:
        """The project's license."""
        return (self._config.root / self._config.project.license_file).read_bytes()

    def prepare(self, hook: BuildHook) -> None:
        """Check what hatchling would pack, and leave out what is no source."""
        self._check_metadata()
        self._leave_out()
        _refuse_links(self._config, hook.build_config, is_sdist=hook.target_name == "sdist")

    def _leave_out(self) -> None:
        """Exclude what latebind, CMake and virtual environments wrote from hatchling's own choice of files."""
        output_folders = self._project.outputs
        for parent, folders, _ in os.walk(self._root):
            paths = {name: Path(parent, name) for name in folders}
            left_out = {name for name, path in paths.items() if path.resolve() in output_folders or is_generated(path)}
            reserved = self._hook.build_config.build_reserved_paths
            reserved.update(os.path.relpath(paths[name], self._root) for name in left_out)
            folders[:] = {name for name in folders if not is_scratch(name)} - left_out

    def _check_metadata(self) -> None:
        """Refuse a distribution whose version or extras are not those of the configuration.

        Hatchling asks the metadata hook only for fields that the project declares as dynamic.
        """
        fields, core = metadata_fields(self._config, self._package), self._hook.metadata.core
        wrong = [] if Version(self._hook.metadata.version) == Version(fields["version"]) else ["version"]
        extras = fields["optional-dependencies"].items()  # the project may have others of its own
        wrong += [] if extras <= core.optional_dependencies.items() else ["optional-dependencies"]
        wrong += [] if set(fields["dependencies"]) <= set(core.dependencies) else ["dependencies"]
        if wrong:
            raise BuildError(
                f"[project] and {self._config.file.name} differ in: {', '.join(wrong)}",
                where=f"{self._root}/pyproject.toml",
                advice=f"Remove these fields from [project], and list their names in `dynamic`: {', '.join(wrong)}.",
            )

    def list_files(self, scratch: Path) -> dict[str, str]:
        """Write the files of an sdist that the wheel's folder lacks to `scratch`; each with its place in the sdist.

        Hatchling gives a file one place, so the native code is given as a copy: parts of it may be the wheel's, too.

        Raises BuildError when pyproject.toml cannot name the backend, and for a link that leads out of the repository.
        """
        config, sources = self._config, native_files(self._project)
        refuse_links_outside(config.root, sources, "native.source")
        folders = {NATIVE: (config.native_source, sources), LOADER: (self.loader, list_loader(config))}
        for name, (source, files) in folders.items():
            for file in files:
                # Not a link: where the wheel's folder holds the native code, the archive would have hard links.
                shutil.copy2(file, _with_folder(scratch / name / file.relative_to(source)))
        backend = config.project.sdist_backend
        licenses = {f"licenses/{name}": text for name, text in self._hook.license_texts().items()}
        carried = carried_backend() if backend == "carried" else {}
        recipe = write_recipe(native_recipe(config), self.wheel, generate_files(config))
        for name, data in {**carried, **recipe, **licenses}.items():
            _with_folder(scratch / BACKEND / name).write_bytes(data)
        write_text(scratch / CONFIG, standalone_text(config))
        write_text(scratch / PYPROJECT, sdist_pyproject(self._root / PYPROJECT, config.module_kind, backend))
        return {str(scratch / name): name for name in (*folders, BACKEND, CONFIG, PYPROJECT)}


@hookimpl
def hatch_register_metadata_hook() -> type[MetadataHook]:
    """Hatchling finds the metadata hook through this."""
    return LatebindMetadataHook


@hookimpl
def hatch_register_build_hook() -> type[BuildHook]:
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


def _refuse_links(config: Config, hatch: Any, *, is_sdist: bool) -> None:
    """Raise BuildError, as refuse_links_outside() does, for a file that hatchling would pack.

    `hatch` is hatchling's configuration of the target. An sdist holds links as links, which may not lead out of it.
    """
    root, core = Path(hatch.root), hatch.builder.metadata.core
    files = [Path(file.path) for file in hatch.builder.recurse_selected_project_files()]
    refuse_links_outside(config.root, files, PYPROJECT, root if is_sdist else None)
    papers = [root / name for name in (core.readme_path, *core.license_files) if name]  # metadata has their text
    refuse_links_outside(config.root, papers, PYPROJECT)
    forced = {root / name for table in _FORCED for name in getattr(hatch, table, ())} if not is_sdist else ()
    for path in forced:
        if path.is_dir():
            refuse_links_outside(config.root, list_tree(path), PYPROJECT, named=path)
        else:
            refuse_links_outside(config.root, [path], PYPROJECT, named=path.parent)
    refuse_named_links(config.root, config.named_files)


def _with_folder(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path

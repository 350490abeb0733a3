"""Reads and writes stage/<rid>/<component>/: the native files of a target, with a manifest of their inputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path

from latebind.backend.binaries import sonames
from latebind.backend.errors import BuildError
from latebind.backend.files import write_text
from latebind.backend.targets import Rid
from latebind.backend.tree import hash_file

MANIFEST = "manifest.json"
_VERSIONS = re.compile(r"\.(?:so|dylib|\d).*")
_LIBRARY_SUFFIXES = (".so", ".dylib", ".dll", ".pyd", ".node")
_STATIC = (".a", ".lib")

WHEEL_MANIFEST = "extra_metadata/latebind.json"
"""Where wheels carry the manifest of the component that they hold, below .dist-info/."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StagedFile:
    """One file of a stage; `path` is relative to the target's folder: `core/lib/liblatenn_core.so`."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageManifest:
    """What a target's stage holds and what it was made from."""

    rid: Rid
    key: str
    """Hash of everything that the files were made from; equal keys mean equal inputs."""
    source_hash: str
    toolchain: str
    floor: str
    files: tuple[StagedFile, ...]
    imported: bool = False
    """Built elsewhere and imported: kept for as long as the sources are the same, whatever compiler is here."""


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A target's staged files. `root` is stage/<rid>."""

    root: Path
    manifest: StageManifest

    @property
    def rid(self) -> Rid:
        """The target that the files are for."""
        return self.manifest.rid

    def libraries(self, component: str) -> tuple[Path, ...]:
        """The shared libraries of a component, sorted by name; of several names of one library, its SONAME alone.

        Raises BuildError as library_names() does.
        """
        return tuple(path for path in self.library_names(component) if path not in self.links)

    @cached_property
    def links(self) -> dict[Path, Path]:
        """The names that CMake's VERSION and SOVERSION give a library besides its SONAME, each with the file of that.

        They are links in the build tree. Wheels, nupkgs and npm packages would hold each as a copy, which the loader
        takes for another library. Files imported from elsewhere may be copies already, so equal bytes decide. Equal
        files of which none has the library's SONAME are left: the project installs them on purpose.
        """
        names: dict[tuple[str, str], list[Path]] = {}
        for file in self.manifest.files:
            if is_library(file.path):
                names.setdefault((file.path.rpartition("/")[0], file.sha256), []).append(self.root / file.path)
        links = {}
        for paths in names.values():
            names_inside = sonames(paths[0].read_bytes()) if len(paths) > 1 else set()
            for shipped in (path for path in paths if path.name in names_inside):
                links.update({path: shipped for path in paths if path != shipped and _stem(path) == _stem(shipped)})
        return links

    def library_names(self, component: str) -> tuple[Path, ...]:
        """The shared libraries of a component, under every name that they have.

        Raises BuildError when there are none: a package without its library must not be made; and when two have one
        name: packages hold all of them in one folder.
        """
        libraries = tuple(path for path in self.paths(component) if is_library(path.name))
        if not libraries:
            static = ", ".join(path.name for path in self.paths(component) if path.suffix in _STATIC)
            advice = f"Add install(TARGETS ... COMPONENT {component}) to the CMake project."
            if static:
                advice = f"It installed {static}. Write add_library(... SHARED), or BUILD_SHARED_LIBS = true below "
                advice += "[native.define]."
            elif self.manifest.imported:
                advice = f"Also import its files: latebind stage --import FOLDER --target {self.rid}"
            text = f"component {component} installed no shared library for {self.rid}"
            raise BuildError(text, where=f"stage/{self.rid}", advice=advice)
        names = [path.name for path in libraries]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise BuildError(
                f"component {component} installed {twice[0]} in several folders, but a package has only one folder",
                where=str(self.root),
                advice="Give the libraries different names, or install one of them only.",
            )
        return libraries

    def data(self, component: str, globs: Iterable[str]) -> tuple[Path, ...]:
        """The files of a component that match a glob and are not libraries, sorted by path."""
        globs, paths = [*globs], [path for path in self.paths(component) if not is_library(path.name)]
        return tuple(path for path in paths if any(fnmatchcase(path.name, glob) for glob in globs))

    def headers(self, component: str) -> tuple[tuple[str, Path], ...]:
        """What a component installed into its include folder: the name below it, and the file."""
        folder = self.root / component / "include"
        paths = [path for path in self.paths(component) if path.is_relative_to(folder)]
        return tuple((path.relative_to(folder).as_posix(), path) for path in paths)

    def paths(self, component: str) -> list[Path]:
        """All files of a component."""
        return [self.root / file.path for file in self.manifest.files if file.path.startswith(f"{component}/")]


def open_stage(root: Path) -> Stage | None:
    """The stage of a target, or None if there is none, or one of its files is missing or was changed."""
    try:
        fields = json.loads((root / MANIFEST).read_bytes())
        files = tuple(StagedFile(**file) for file in fields["files"])
        manifest = StageManifest(**{**fields, "files": files})
        is_intact = all(hash_file(root / file.path) == file.sha256 for file in files)
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return Stage(root=root, manifest=manifest) if is_intact else None


def describe_files(root: Path) -> tuple[StagedFile, ...]:
    """The files below a folder, sorted by path."""
    return tuple(
        StagedFile(path=path.relative_to(root).as_posix(), sha256=hash_file(path), size=path.stat().st_size)
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.name != MANIFEST
    )


def write_manifest(root: Path, manifest: StageManifest) -> Stage:
    """Write a manifest next to the files that it describes, and give those one mode, which packages keep."""
    for file in manifest.files:
        (root / file.path).chmod(0o644)
    write_text(root / MANIFEST, manifest_text(manifest))
    return Stage(root=root, manifest=manifest)


def manifest_text(manifest: StageManifest) -> str:
    """A manifest as JSON."""
    return json.dumps(asdict(manifest), indent=2) + "\n"


def manifest_of(stage: Stage, files: Iterable[Path]) -> str:
    """What some files of a stage were built from, so that `stage --import` can read the wheel that has them."""
    chosen = {*files}
    staged_files = tuple(file for file in stage.manifest.files if stage.root / file.path in chosen)
    return manifest_text(replace(stage.manifest, files=staged_files, key="", imported=False))


def is_library(path: str) -> bool:
    """Whether a file is a shared library, a Python module or an add-on of Node.js, by its name."""
    name = path.rpartition("/")[2]
    return name.endswith(_LIBRARY_SUFFIXES) or ".so." in name


def _stem(path: Path) -> str:
    """The name without suffix and versions: libtiny of libtiny.so.1.2 and of libtiny.1.2.dylib."""
    return _VERSIONS.sub("", path.name)

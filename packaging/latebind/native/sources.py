"""Lists and hashes the files that native code and packages are made from."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from latebind.backend.files import digest
from latebind.backend.tree import Folders, hash_file, hash_tree, list_tree
from latebind.config.config import Config
from latebind.config.project import MSBUILD_OUTPUTS, Project
from latebind.system.decoding import DECODE_ERRORS
from latebind.system.resources import cmake_dir

_NATIVE = re.compile(
    r"CMakeLists\.txt|.*\.(asm|c|c\+\+|cc|cmake|cpp|cu|cuh|cxx|def|h|h\+\+|hh|hpp|hxx|in|inc|inl|ipp|m|mm|pxd|pyx|s|tcc|tpp)",
    re.IGNORECASE,
)
"""Names of files that CMake and compilers read."""
_COMPONENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_NO_SOURCES = MSBUILD_OUTPUTS | {"node_modules"}
_LOADER = "latebind's loader"
_MSBUILD = (
    "Directory.Build.props",
    "Directory.Build.targets",
    "Directory.Build.rsp",
    "Directory.Packages.props",
    "global.json",
    "nuget.config",
    "NuGet.config",
    "NuGet.Config",
)
"""What MSBuild and NuGet look for in every folder above a project."""


def native_files(project: Project) -> list[Path]:
    """The files of the native code, sorted: all below its folder but outputs, packages of this project, and `exclude`.

    Below a package's folder, only what CMake and compilers read counts. Everything in it counts where it is the folder
    of the native code itself: the two cannot be distinguished then.
    """
    config, native = project.config, project.config.native_source
    paths = list_tree(native, outputs=project.outputs)
    apart = [folder for folder in _package_folders(config) if native.resolve() in folder.parents]
    paths = [
        path for path in paths if _NATIVE.fullmatch(path.name) or not any(folder in path.parents for folder in apart)
    ]
    globs = config.document.native.exclude
    return [path for path in paths if not _is_excluded(path.relative_to(native).as_posix(), globs)]


def hash_inputs(project: Project) -> dict[str, str]:
    """The hash of each file of the project that packages are made from, by its path from the configuration's folder.

    Ends of lines do not count, because a checkout on Windows has others.
    """
    config, files = project.config, {**list_inputs(project), **list_wheel_sources(project)}
    hashes = {name: _hash_text(path.read_bytes()) for name, path in sorted(files.items()) if path != config.file}
    hashes[config.file.name] = _hash_text(config.content)  # as it was read: it may have changed since
    return {**dict(sorted(hashes.items())), _LOADER: hash_tree(cmake_dir(), modes=False)}


def list_unnamed_components(project: Project) -> dict[str, str]:
    """The components, by package, that no CMake file of the native code names; a variable may hold one nevertheless."""
    config = project.config
    if config.is_built_elsewhere:
        return {}
    files = (path for path in native_files(project) if path.name == "CMakeLists.txt" or path.suffix == ".cmake")
    words = {word for path in files for word in _COMPONENT.findall(path.read_text("utf-8", "replace"))}
    return {name: package.component for name, package in config.packages.items() if package.component not in words}


def list_inputs(project: Project) -> dict[str, Path]:
    """The files that packages are made from, by path from the configuration's folder, but those in wheels' folders."""
    config, files = project.config, native_files(project)
    for path in (config.root / name for name in config.list_sources().values()):
        files += _list_files(project, path)
    return _name_files(config, files)


def list_wheel_sources(project: Project) -> dict[str, Path]:
    """The files of the folders of wheels, in the same way; the backend packs some of them."""
    config = project.config
    files = (_list_files(project, config.root / source) for source in config.wheel_sources.values())
    return _name_files(config, chain.from_iterable(files))


def list_forced(project: Project) -> dict[str, Path]:
    """The files that the force-include tables of wheels name, in the same way."""
    config = project.config
    paths = (path for source in config.wheel_sources.values() for path in forced_includes(config.root / source))
    return _name_files(config, chain.from_iterable(_list_files(project, path) for path in paths))


def _list_files(project: Project, path: Path) -> list[Path]:
    return list_tree(path, without=_NO_SOURCES, outputs=project.outputs) if path.is_dir() else [path]


def _name_files(config: Config, files: Iterable[Path]) -> dict[str, Path]:
    return {Path(os.path.relpath(path, config.root)).as_posix(): path for path in files if path.is_file()}


def outside_hash(source: Path, outputs: Folders) -> str:
    """A hash of what a wheel source or a managed project takes from elsewhere: forced includes, MSBuild's settings."""
    parts = [
        f"{path} {hash_tree(path, outputs=outputs) if path.is_dir() else hash_file(path)}"
        for path in forced_includes(source)
    ]
    parts += [hash_file(folder / name) for folder in (source, *source.parents) for name in _MSBUILD]
    return digest(parts)


def forced_includes(source: Path) -> Iterator[Path]:
    """The files that hatchling's force-include tables name."""
    file = source / "pyproject.toml"
    try:
        document = msgspec.toml.decode(file.read_bytes())
    except (OSError, *DECODE_ERRORS):
        return  # the backend says what is wrong with it
    for path in _tables(document.get("tool", {}).get("hatch", {}).get("build", {})):
        yield source / path


def _tables(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "force-include" and isinstance(value, dict):
                yield from value
            else:
                yield from _tables(value)


def _package_folders(config: Config) -> list[Path]:
    """The folders of wheels and managed projects, in the form in which list_tree() gives paths below the root."""
    names = [*config.wheel_sources.values()]
    names += [package.nuget.managed for package in config.packages.values() if package.nuget is not None]
    return [(config.root / name).resolve() for name in names if name]


def _hash_text(data: bytes) -> str:
    return hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest()


def _is_excluded(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, glob) or fnmatchcase(name, f"{glob.rstrip('/')}/*") for glob in globs)

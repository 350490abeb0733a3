"""Finds the files outside its own folder that a package is made from, so that no change to them is missed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from latebind.config.config import Config
from latebind.config.project import OUTPUTS
from latebind.errors import BuildError
from latebind.system.folders import find_repository
from latebind.system.log import LOG
from latebind.system.resources import cmake_dir
from latebind.system.run import run
from latebind.system.tree import Folders, hash_file, hash_tree
from loadcheck.decoding import DECODE_ERRORS

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
_INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules"})
_LIMIT = 60.0
_SHOWN = 5


def read_inputs(ninja: Path, tree: Path) -> list[Path]:
    """Every file that the compiler read for a build tree, as ninja recorded it."""
    output = run([ninja, "-C", tree, "-t", "deps"], timeout=_LIMIT).output
    names = {line.strip() for line in output.splitlines() if line.startswith("    ")}
    return sorted((tree / name).resolve() for name in names)


class SourceBoundary:
    """The files that native code may be made from: the key of a stage is a hash of them, and the sdist carries them.

    Both would miss any other file of the project. Headers of the system, of compilers and of other installations are
    not the project's; `apart` are the folders of build outputs and of the compiler.
    """

    def __init__(self, config: Config, files: Sequence[Path], apart: Iterable[Path]) -> None:
        self._config = config
        self._native = config.native_source.resolve()
        self._files = {path.resolve() for path in files}
        self._repository = find_repository(config.root)
        self._apart = [path.resolve() for path in (*apart, config.root / "loader", cmake_dir())]

    def refuse_outside(self, inputs: Iterable[Path]) -> None:
        """Raises BuildError that names the files of the project that are not among the sources."""
        foreign = [path for path in inputs if path not in self._files and self._is_of_project(path)]
        outside = [path for path in foreign if not path.is_relative_to(self._native)]
        if outside:
            raise BuildError(
                f"the native code includes files from outside {self._folder}: {self._list_paths(outside)}",
                where=self._config.file.name,
                advice=f"Move the files into {self._folder}, because the sdist needs them. Or set native.source to a "
                "folder that contains all of them, and native.cmake to its subfolder with CMakeLists.txt.",
            )
        if foreign:
            raise BuildError(
                f"the native code includes files that latebind does not count as sources: {self._list_paths(foreign)}",
                where=self._config.file.name,
                advice=f"Move them out of folders for outputs ({', '.join(OUTPUTS)}), caches and packages of this "
                "project, or remove them from native.exclude. In a package's folder, files of C, C++, Cython and CMake "
                "count as sources.",
            )

    def note_outside(self, searched: Iterable[Path]) -> None:
        """Report the folders of the project in which every header would be refused once it is included."""
        outside = [
            folder
            for folder in searched
            if not folder.is_relative_to(self._native)
            and self._is_of_project(folder)
            and not any(path.is_relative_to(folder) for path in self._files)
        ]
        if outside:
            LOG.say(
                f"note: the compiler looks for headers outside {self._folder}: {self._list_paths(outside)}. "
                "The build fails if the code includes a header from there."
            )

    @property
    def _folder(self) -> str:
        return f"{self._config.document.native.source}/"

    def _is_of_project(self, path: Path) -> bool:
        return (
            path.is_relative_to(self._repository)
            and not any(path.is_relative_to(folder) for folder in self._apart)
            and not _is_installed(path.relative_to(self._repository))
        )

    def _list_paths(self, paths: Sequence[Path]) -> str:
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        return ", ".join(Path(os.path.relpath(path, self._config.root)).as_posix() for path in paths[:_SHOWN]) + more


def outside_hash(source: Path, outputs: Folders) -> str:
    """A hash of what a wheel source or a managed project takes from elsewhere: forced includes, MSBuild's settings."""
    parts = [
        f"{path} {hash_tree(path, outputs=outputs) if path.is_dir() else hash_file(path)}"
        for path in forced_includes(source)
    ]
    parts += [hash_file(folder / name) for folder in (source, *source.parents) for name in _MSBUILD]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


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


def _is_installed(path: Path) -> bool:
    """Whether a file below a repository was installed there, not written: an environment, a hidden folder."""
    return any(part.startswith(".") or part in _INSTALLED for part in path.parts)

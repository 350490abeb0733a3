"""Refuses files from outside a project's sources, which no hash would cover, and links to them; reports downloads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from latebind.config.config import Config
from latebind.config.project import OUTPUTS
from latebind.errors import BuildError
from latebind.system.folders import find_repository
from latebind.system.log import LOG
from latebind.system.resources import cmake_dir

_INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules"})
_SHOWN = 5
_UNPATCHED = "latebind-unpatched.txt"


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


def report_downloads(config: Config, tree: Path, rid: str) -> None:
    """Name what FetchContent downloaded: no hash of latebind's covers it, and another build may get something else.

    Also names what FetchContent would have patched: it patches no folder that it is given.
    """
    unpatched = tree / _UNPATCHED
    text = unpatched.read_text(encoding="utf-8") if unpatched.is_file() else ""
    if unpatched_names := ", ".join(filter(None, text.split(";"))):
        LOG.say(
            f"note: {rid}: CMake does not run the PATCH_COMMAND of {unpatched_names}, because [native.sources] has the "
            "sources. Check that they already contain the patches."
        )
    names = sorted(path.name.removesuffix("-src") for path in tree.glob("_deps/*-src") if path.is_dir())
    if names and not config.document.native.sources:
        LOG.say(
            f"note: {rid}: CMake downloaded {', '.join(names)}, which latebind does not hash. Name archives of them in "
            "[native.sources] to build without a network."
        )


def refuse_named_links(root: Path, named: Mapping[str, str]) -> None:
    """Raise BuildError, as refuse_links_outside() does, for a file that the configuration names, by its key."""
    for key, name in named.items():
        refuse_links_outside(root, [root / name], key, named=(root / name).parent)


def refuse_links_outside(
    root: Path, files: Iterable[Path], key: str, folder: Path | None = None, named: Path | None = None
) -> None:
    """Raise BuildError for a file that is really outside the repository of a project, or among git's own files.

    `key` is the setting that chose the files. A link may come from anyone whose change is merged, and archives hold
    what it leads to: another file of the machine, or the token in `.git/config`. `folder` is given where the archive
    holds links themselves, which may not lead out of it. `named` is a folder that the configuration names: files may
    be there, too, even if it is outside the repository.
    """
    top = find_repository(root.resolve()) if folder is None else folder.resolve()
    lexical = () if named is None else (Path(os.path.abspath(named)),)  # noqa: PTH100  # its own links are judged
    for path in files:
        real = path.resolve()
        if any(real.is_relative_to(one) and not _is_of_git(real.relative_to(one)) for one in (top, *lexical)):
            continue
        raise BuildError(
            f"leads through a link to {real}, which is outside the sources",
            where=f"{key}: {os.path.relpath(path, root)}",
            advice=f"A package contains only files below {top}, and nothing from .git. Replace the link with a copy of "
            f"the file, or remove it.",
        )


def _is_of_git(path: Path) -> bool:
    """Whether a path leads through a folder .git; some file systems ignore case."""
    return any(part.casefold() == ".git" for part in path.parts)


def _is_installed(path: Path) -> bool:
    """Whether a file below a repository was installed there, not written: an environment, a hidden folder."""
    return any(part.startswith(".") or part in _INSTALLED for part in path.parts)

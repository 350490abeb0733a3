"""Writes what every sdist has at fixed places: the configuration, the native code, the loader and the build backend."""

from __future__ import annotations

import shutil
from pathlib import Path

from latebind.build.inside import refuse_links_outside
from latebind.build.intree import backend_texts, sdist_pyproject
from latebind.build.sources import loader_dir, native_files
from latebind.config.config import SDIST_BACKEND, SDIST_LOADER, SDIST_NATIVE
from latebind.config.file import FILE_NAME as CONFIG_NAME
from latebind.config.file import standalone_text
from latebind.config.project import Project
from latebind.system.tree import list_tree
from loadcheck.archive import write_text

PROJECT_NAME = "pyproject.toml"


def write_sdist_files(project: Project, root: Path, destination: Path) -> dict[str, str]:
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

"""A project as one command works on it: its configuration, read once, and its working folder."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from latebind.config.file import find, load
from latebind.errors import InputError
from latebind.system.lock import LOCK

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.config import Config

OUTPUTS = ("build", "stage", "dist", "reports", "out")
"""The folders that latebind writes in a working folder."""
MSBUILD_OUTPUTS = frozenset({"bin", "obj"})
"""The folders that MSBuild writes next to a .csproj."""
_WHEELHOUSE = "wheelhouse"
"""Where cibuildwheel puts the wheels of a project, by default."""

DIGEST_VARIABLE = "LATEBIND_CONFIG_SHA256"
"""The digest of the configuration of the command above this process; build backends run below latebind."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The folders that latebind writes, which are never sources: `path in outputs`. Ask with resolved paths."""

    folders: frozenset[Path]

    def __contains__(self, path: Path) -> bool:
        """Whether latebind writes to this folder: a known one, or one of another working folder, which has a lock."""
        return path in self.folders or (path.name in OUTPUTS and (path.parent / LOCK).is_file())


@dataclass(frozen=True, kw_only=True)
class Project:
    """What a command reads once and hands on, so that an edit in between changes nothing for it."""

    config: Config
    workdir: Path
    """The folder of build/, stage/, dist/ and reports/."""

    @property
    def dist(self) -> Path:
        """Where its packages are made."""
        return self.workdir / "dist"

    @property
    def reports(self) -> Path:
        """Where its reports are written."""
        return self.workdir / "reports"

    @property
    def verification(self) -> Path:
        """What its verification makes and keeps."""
        return self.workdir / "build" / "verify"

    @cached_property
    def outputs(self) -> Outputs:
        """The output folders of the working folder, and those in the project's own folder.

        The latter are included wherever the working folder is, so that sources have the same hash on all machines.
        """
        usual = [self.config.root / name for name in (*OUTPUTS, _WHEELHOUSE)]
        return Outputs(frozenset(path.resolve() for path in (*usual, *(self.workdir / name for name in OUTPUTS))))


def find_project(start: Path, workdir: Path | None = None) -> tuple[Path, Path]:
    """The configuration file that governs a folder, and the working folder, which may have to be locked before reading.

    Raises InputError as find() does.
    """
    file = find(start)
    return file, (workdir or file.parent).resolve()


def read_project(file: Path, workdir: Path) -> Project:
    """Read the project of a configuration file.

    Raises ConfigError and InputError as load() does, and InputError in a build backend below a command that has read
    another configuration: half of a package would be made of each.
    """
    config = load(file)
    if os.environ.get(DIGEST_VARIABLE) not in (None, "", config.digest):
        raise InputError(
            "changed while latebind packed it",
            where=str(file),
            advice="Run the command again, and change no files while it runs.",
        )
    return Project(config=config, workdir=workdir)

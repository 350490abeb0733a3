"""A project as one command works on it: its configuration, read once, and its working folder."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from latebind.config.file import find, load
from latebind.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.config import Config

DIGEST_VARIABLE = "LATEBIND_CONFIG_SHA256"
"""The digest of the configuration of the command above this process; build backends run below latebind."""


@dataclass(frozen=True, slots=True, kw_only=True)
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

    def with_toolchain(self, rid: str, name: str) -> Project:
        """The same project with another toolchain for a target."""
        return replace(self, config=self.config.with_toolchain(rid, name))


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

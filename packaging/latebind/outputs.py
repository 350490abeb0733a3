"""Knows the folders that latebind writes, which are never sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from latebind.system.lock import LOCK

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.config import Config

NAMES = ("build", "stage", "dist", "reports")
"""The folders that latebind writes in a working folder."""
MSBUILD_OUTPUTS = frozenset({"bin", "obj"})
"""The folders that MSBuild writes next to a .csproj."""
_WHEELHOUSE = "wheelhouse"
"""Where cibuildwheel puts the wheels of a project, by default."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The output folders of a project: `path in outputs`. Ask with resolved paths."""

    folders: frozenset[Path]

    def __contains__(self, path: Path) -> bool:
        """Whether latebind writes to this folder: a known one, or one of another working folder, which has a lock."""
        return path in self.folders or (path.name in NAMES and (path.parent / LOCK).is_file())


def outputs(config: Config, workdir: Path) -> Outputs:
    """The output folders of a working folder, and those in the project's own folder.

    The latter are included wherever the working folder is, so that sources have the same hash on all machines.
    """
    usual = [config.root / name for name in (*NAMES, _WHEELHOUSE)]
    return Outputs(frozenset(path.resolve() for path in (*usual, *(workdir / name for name in NAMES))))

"""Refuses links among a project's sources that would take a file of the machine into a package."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from latebind.errors import BuildError
from latebind.system.folders import find_repository

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from latebind.config.config import Config


def refuse_links_outside(config: Config, files: Iterable[Path], key: str, folder: Path | None = None) -> None:
    """Raise BuildError for a file that is really outside the project's repository, or among git's own files.

    `key` is the setting that chose the files. A link may come from anyone whose change is merged, and archives hold
    what it leads to: another file of the machine, or the token in `.git/config`. `folder` is given where the archive
    holds links themselves, which may not lead out of it.
    """
    top = find_repository(config.root.resolve()) if folder is None else folder.resolve()
    for path in files:
        real = path.resolve()
        if real.is_relative_to(top) and ".git" not in real.relative_to(top).parts:
            continue
        raise BuildError(
            f"is or passes a link to {real}, which is outside the sources",
            where=f"{key}: {os.path.relpath(path, config.root)}",
            advice=f"A package holds files from below {top} alone, and none of git's own. Replace the link by a copy "
            "of the file, or remove it.",
        )

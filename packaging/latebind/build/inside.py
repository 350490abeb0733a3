"""Refuses links among a project's sources that would take a file of the machine into a package."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from latebind.errors import BuildError
from latebind.system.folders import find_repository


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

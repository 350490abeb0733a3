"""Checks before anything runs whether the files and folders exist that a configuration names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from latebind.errors import ConfigError, LatebindError

Folder = tuple[str, str, tuple[str, ...]]
"""A folder with its key and the globs of what it must hold."""


def refuse_missing(file: Path, named: Mapping[str, str], folders: Iterable[Folder] = ()) -> None:
    """Refuse missing files and wrong folders before anything is built or installed. Raises ConfigError with all.

    `named` are the files and folders that the configuration in `file` names, by key.
    """
    problems = [
        LatebindError(text, where=f"{file.name}: {key}", advice=advice)
        for key, text, advice in (*_list_missing(file.parent, named), *_list_wrong(file.parent.resolve(), folders))
    ]
    if problems:
        raise ConfigError(problems)


def _list_missing(root: Path, named: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for key, name in named.items():
        if not (root / name).exists():
            yield key, f"there is no file or folder {name!r}", "Correct the path or remove the key."


def _list_wrong(root: Path, folders: Iterable[Folder]) -> Iterator[tuple[str, str, str]]:
    """The key, the problem and advice for each folder that is there and that would give a package no code of its own.

    One that holds the project would give it everything else, too: what was built, and what was packed before.
    """
    for key, name, globs in folders:
        folder = root / name
        if not folder.exists():
            continue
        if not folder.is_dir():
            yield key, f"{name!r} is a file", "Name its folder."
        elif root.is_relative_to(folder.resolve()):
            yield (
                key,
                f"{name!r} contains the whole project",
                "Move the package's files into a folder of their own.",
            )
        elif not any(path.is_file() for glob in globs for path in folder.glob(glob)):
            yield key, f"{name!r} has no {' or '.join(globs)}", "Name the folder that has it."

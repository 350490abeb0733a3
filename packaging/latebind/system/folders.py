"""Finds the repository of a folder, and writes whole folders, complete or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from latebind.errors import InputError


def find_repository(folder: Path) -> Path:
    """The top folder of the git repository that a folder is in; the folder itself where there is none."""
    return next((parent for parent in (folder, *folder.parents) if (parent / ".git").exists()), folder)


@contextmanager
def replacing_folder(output: Path, mark: str, title: str) -> Iterator[Path]:
    """A folder to fill. If the block succeeds it becomes `output`; otherwise it is removed and an earlier one stays.

    An earlier folder is replaced if it has the file `mark`, which each `title` has. Raises InputError for any other
    folder that is not empty.
    """
    is_taken = output.exists() and (not output.is_dir() or any(output.iterdir()))
    if is_taken and not (output / mark).is_file():
        raise InputError(f"exists and is not {title}", where=str(output), advice="Name another folder, or remove it.")
    made = [folder for folder in output.parents if not folder.exists()]
    try:
        with new_folder(output) as aside:
            aside.mkdir(parents=True)
            yield aside
    finally:
        for folder in made:
            with suppress(OSError):  # not empty
                folder.rmdir()


@contextmanager
def new_folder(output: Path) -> Iterator[Path]:
    """A folder to make, which takes the place of an earlier one when the block succeeds, else is removed."""
    aside = output.with_name(f".{output.name}.{os.getpid()}.part")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        yield aside
        swap_in(aside, output)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def swap_in(aside: Path, output: Path) -> None:
    """Put a finished folder in the place of an earlier one; the earlier one stays until that moment."""
    old = output.with_name(f".{output.name}.{os.getpid()}.old")
    shutil.rmtree(old, ignore_errors=True)
    if output.exists():
        output.rename(old)
    try:
        aside.rename(output)
    finally:
        if old.exists() and not output.exists():
            old.rename(output)
        shutil.rmtree(old, ignore_errors=True)

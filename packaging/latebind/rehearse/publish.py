"""Publishes the packages of a release: each file once, with the same bytes however often it is repeated."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.errors import InputError
from latebind.formats import find_format
from loadcheck.archive import sha256
from loadcheck.text import plural

if TYPE_CHECKING:
    from latebind.ecosystems.publishing import Registry, Rehearsal

_UPLOADS = "upload-"
"""The artifacts in which the workflow hands files to the jobs that publish."""


def find_files(rehearsal: Rehearsal, packages: Path, artifacts: Path) -> list[Path]:
    """What is published in a registry: what the workflow handed to its job, else all packages of its kinds."""
    handed = artifacts / f"{_UPLOADS}{rehearsal.job}"
    folder = handed if rehearsal.job and handed.is_dir() else packages
    forms = ((path, find_format(path.name)) for path in sorted(folder.iterdir()))
    return [path for path, form in forms if form is not None and form.kind in rehearsal.kinds]


def publish(registry: Registry, files: Sequence[Path]) -> str:
    """Upload the files that the registry lacks; how many these were.

    Raises InputError for a file that the registry has with other bytes, ToolError when the registry takes none: a
    repetition then continues with the rest.
    """
    published = 0
    for file in files:
        there = registry.find(file)
        if there and there != sha256(file):
            raise InputError(
                f"the registry {registry.place} has {file.name} with other bytes",
                where=str(file),
                advice="Published files never change: give the release a new version.",
            )
        if not there:
            registry.upload(file)
            published += 1
    return f"{plural(published, 'file')} published, {len(files) - published} already there"

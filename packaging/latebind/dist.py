"""Finds the packages in a folder: hashed, and checked by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.errors import InputError
from latebind.formats import find_format
from latebind.model import Artifact
from loadcheck.archive import sha256
from loadcheck.formats import iter_members
from loadcheck.model import Sha256

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.config import Config


def artifacts_in(folder: Path, config: Config) -> tuple[Artifact, ...]:
    """The packages of a project that a folder holds and consumers install, sorted by name.

    Raises InputError when it is not a folder, holds none, or holds one that cannot be read or belongs to another
    version or project: that one would be installed and tested instead.
    """
    if not folder.is_dir():
        text = "is not a folder" if folder.exists() else "there is no such folder"
        advice = "Name the folder that contains the packages. latebind pack makes them in dist/."
        raise InputError(text, where=str(folder), advice=advice)
    artifacts = list_artifacts(folder)
    if not artifacts:
        raise InputError(
            "contains no package that can be installed",
            where=str(folder),
            advice="Make them: latebind pack.",
        )
    problems = [problem for artifact in artifacts if (problem := _explain_problem(artifact.path, config))]
    if problems:
        raise InputError("; ".join(problems), where=str(folder), advice="Remove each of these files from the folder.")
    return artifacts


def list_artifacts(folder: Path) -> tuple[Artifact, ...]:
    """The packages of any project in a folder that consumers install, sorted by name."""
    files = [(path, find_format(path.name)) for path in sorted(folder.iterdir())]
    return tuple(
        Artifact(path=path.resolve(), kind=form.kind, sha256=Sha256(sha256(path)), size=path.stat().st_size)
        for path, form in files
        if form is not None and form.is_installed
    )


def _explain_problem(path: Path, config: Config) -> str:
    """Why a file is not a package of the project, "" when it is one."""
    form = find_format(path.name)
    if form is None:
        return f"{path.name} is not a package"
    if reason := form.explain_foreign(path.name, config):
        return f"{path.name} is {reason}"
    try:
        for _ in iter_members(path, form):
            pass
    except InputError as error:
        return f"{path.name} is {error.message}"
    return ""

"""Finds what to audit: the packages, folders and binaries of the given paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.archive import ZipReader
from loadcheck.errors import InputError
from loadcheck.formats import find_format
from loadcheck.model import PASSED_OVER, SYMBOLS_MANIFEST, SYMBOLS_SUFFIX, Kind, Skipped
from loadcheck.readers.package import NothingToAuditError, kind_of
from loadcheck.readers.sources import list_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_ADVICE = "Name an existing file or folder."


def find_subjects(paths: Sequence[Path]) -> tuple[list[tuple[Path, Kind]], list[Skipped]]:
    """The packages, folders and binaries to audit, each once, sorted by path; and what is none of these.

    A folder stands for the packages below it, and for itself when it holds native files outside of packages, or no
    package. Archives of debug symbols are audited only if `paths` names them. What cannot be read below a folder
    becomes a finding. Raises InputError for a path that is not there or cannot be read, and if there is nothing to
    audit.
    """
    kind_by_path: dict[Path, Kind] = {}
    others: list[InputError] = []
    for path in paths:
        if not path.exists():
            raise InputError("no such file or folder", where=str(path), advice=_ADVICE)
        try:
            kind_by_path |= _list_folder(path) if path.is_dir() else {path: kind_of(path)}
        except NothingToAuditError as error:
            others.append(error)
    if others and not kind_by_path:
        raise others[0]
    skipped = [Skipped(check=PASSED_OVER, subject=error.where, reason=error.message) for error in others]
    return sorted(kind_by_path.items(), key=lambda subject: subject[0].as_posix()), skipped


def _list_folder(folder: Path) -> dict[Path, Kind]:
    """What to audit of a folder. The folder itself stands for files of its own, and for what cannot be read in it."""
    closed: list[OSError] = []
    files = sorted(file for file in list_files(folder, closed.append) if not _holds_symbols(file))
    if any(error.filename == str(folder) for error in closed):
        raise InputError(f"cannot be read: {closed[0].strerror}", where=str(folder))
    if not files and not closed:
        raise NothingToAuditError("this folder has nothing to audit", where=str(folder), advice=_ADVICE)
    subjects: dict[Path, Kind] = {file: form.audited_as for file in files if (form := find_format(file.name))}
    if not subjects or closed or any(_belongs_to_folder(file) for file in files if file not in subjects):
        subjects[folder] = "folder"
    return subjects


def _holds_symbols(path: Path) -> bool:
    """Whether a file is an archive of symbols that latebind made. Its name alone proves nothing."""
    if not path.name.endswith(SYMBOLS_SUFFIX):
        return False
    try:
        with ZipReader(path) as archive:
            return any(member.name == SYMBOLS_MANIFEST for member in archive.members)
    except InputError:
        return False


def _belongs_to_folder(path: Path) -> bool:
    """Whether a file makes its folder a subject: a native binary, or what cannot be read and may be one."""
    try:
        return kind_of(path) == "binary"
    except NothingToAuditError:
        return False
    except InputError:
        return True

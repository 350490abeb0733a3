"""The kinds of package files: how one is recognized, opened and named.

Each ecosystem declares its own in `files.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Literal

from latebind.registry import collect
from latebind.system.archive import ZipReader
from latebind.system.tarball import TarReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.model import Kind, Rid


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whose package a file is."""

    name: str
    version: str
    targets: tuple[Rid, ...] = ()
    """The targets that its name or its metadata state; () where only its content can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFormat:
    """Files with one suffix."""

    suffix: str
    kind: Kind
    audited_as: Kind
    """The kind of subject that the audit takes such a file for."""
    container: Literal["zip", "tar"] = "zip"
    folder: str = ""
    """The folder in dist/ that such files are in; "" for dist/ itself."""
    is_installed: bool = False
    """Whether consumers install such files, so that `verify` runs them."""
    is_semantic: bool = False
    """Whether versions in their names are SemVer's (`1.0.0-rc.1`) and not PEP 440's (`1.0.0rc1`)."""
    headers: str = ""
    """A regular expression of the folder with C headers in such a package; "" for none."""
    name_project: Callable[[Config, str], str] | None = None
    """What a package of a configuration is called in files of this kind, "" where it has none; None for files that are
    not made of each package."""
    holds_packages: bool = False
    """Whether it holds packages that are in dist/, too, and audited there."""
    promises_targets: bool = False
    """Whether names of files or folders say for which target a library is (`PackageReader.find_rid`)."""
    identify: Callable[[Path], Identity]
    """Read name and version. Raises InputError when the file is not what its suffix says."""
    explain_foreign: Callable[[str, Config], str] = lambda _name, _config: ""
    """Why a file of this name is none of a project's packages, as in "it is ..."; "" when it is one."""


@cache
def package_formats() -> tuple[PackageFormat, ...]:
    """All of them, longer suffixes first: `-sdk.tar.gz` before `.tar.gz`."""
    formats: tuple[PackageFormat, ...] = collect("files", "FORMATS")
    return tuple(sorted(formats, key=lambda form: -len(form.suffix)))


def find_format(name: str) -> PackageFormat | None:
    """The format of a file by its name, whose case does not matter; None for other files."""
    return next((form for form in package_formats() if name.lower().endswith(form.suffix)), None)


def name_projects(config: Config, package: str) -> dict[Kind, str]:
    """What a package of a configuration is called in each ecosystem that has it."""
    formats: tuple[PackageFormat, ...] = collect("files", "FORMATS")
    names = {form.audited_as: form.name_project(config, package) for form in formats if form.name_project is not None}
    return {kind: name for kind, name in names.items() if name}


def list_audited_kinds(is_chosen: Callable[[PackageFormat], bool] = lambda _form: True) -> tuple[Kind, ...]:
    """What the audit calls packages of the chosen formats, in the order of the ecosystems."""
    formats: tuple[PackageFormat, ...] = collect("files", "FORMATS")
    return tuple(dict.fromkeys(form.audited_as for form in formats if is_chosen(form)))


@cache
def installed_kinds() -> frozenset[Kind]:
    """The kinds of packages that consumers install."""
    return frozenset(form.kind for form in package_formats() if form.is_installed)


def iter_members(path: Path, form: PackageFormat) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """The files of a package, each with a function that reads it, to be called before the next one.

    Raises InputError for an archive that cannot be read.
    """
    if form.container == "tar":
        for member, blocks in TarReader(path).files():
            yield member.name, partial(_join, blocks)
        return
    with ZipReader(path) as archive:
        for entry in archive.members:
            if not entry.is_folder:
                yield entry.name, partial(archive.read, entry.name)


def _join(blocks: Callable[[], Iterator[bytes]]) -> bytes:
    return b"".join(blocks())

"""The kinds of package files as a project makes them: how one is named.

Each ecosystem declares its own in `files.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from latebind.config.config import Config
from latebind.errors import InputError
from latebind.registry import collect
from latebind.tables.targets import targets
from loadcheck import Kind, Rid
from loadcheck.facts import FORMATS, PackageFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whose package a file is."""

    name: str
    version: str
    targets: tuple[Rid, ...] = ()
    """The targets that its name or its metadata state; () where only its content can tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFormat(PackageFormat):
    """Files with one suffix, as a project makes them."""

    is_built: bool = False
    """Whether consumers build what they install from such files."""
    folder: str = ""
    """The folder in dist/ that such files are in; "" for dist/ itself."""
    is_semantic: bool = False
    """Whether versions in their names are SemVer's (`1.0.0-rc.1`) and not PEP 440's (`1.0.0rc1`)."""
    headers: str = ""
    """A regular expression of the folder with C headers in such a package; "" for none."""
    name_project: Callable[[Config, str], str] | None = None
    """What a package of a configuration is called in files of this kind, "" where it has none; None for files that are
    not made of each package."""
    identify: Callable[[Path], Identity]
    """Read name and version. Raises InputError when the file is not what its suffix says."""
    explain_foreign: Callable[[str, Config], str] = lambda _name, _config: ""
    """Why a file of this name is none of a project's packages, as in "it is ..."; "" when it is one."""

    @property
    def is_verified(self) -> bool:
        """Whether test cases show that consumers can use such files."""
        return self.is_installed or self.is_built


def identify_by_name(path: Path, form: re.Pattern[str], problem: str, advice: str = "") -> Identity:
    """Name, version and target, from the groups of a pattern. Raises InputError with the problem for other names."""
    match = form.fullmatch(path.name)
    if match is None:
        raise InputError(problem, where=str(path), advice=advice)
    rids = tuple(rid for rid in targets() if rid == match["rid"])
    return Identity(name=match["name"], version=match["version"], targets=rids)


def made_as(suffix: str, **how: Any) -> ProjectFormat:
    """The format of that suffix, with what a project says of its own files."""
    form = next(form for form in FORMATS if form.suffix == suffix)
    return ProjectFormat(**{field.name: getattr(form, field.name) for field in fields(form)}, **how)


@cache
def package_formats() -> tuple[ProjectFormat, ...]:
    """All of them, longer suffixes first: `-sdk.tar.gz` before `.tar.gz`."""
    formats: tuple[ProjectFormat, ...] = collect("files", "FORMATS")
    return tuple(sorted(formats, key=lambda form: -len(form.suffix)))


def find_format(name: str) -> ProjectFormat | None:
    """The format of a file by its name, whose case does not matter; None for other files."""
    return next((form for form in package_formats() if name.lower().endswith(form.suffix)), None)


def name_projects(config: Config, package: str) -> dict[Kind, str]:
    """What a package of a configuration is called in each ecosystem that has it."""
    formats: tuple[ProjectFormat, ...] = collect("files", "FORMATS")
    names = {form.audited_as: form.name_project(config, package) for form in formats if form.name_project is not None}
    return {kind: name for kind, name in names.items() if name}


@cache
def installed_kinds() -> frozenset[Kind]:
    """The kinds of packages that consumers install."""
    return frozenset(form.kind for form in package_formats() if form.is_installed)


@cache
def verified_kinds() -> frozenset[Kind]:
    """The kinds of packages that test cases are about."""
    return frozenset(form.kind for form in package_formats() if form.is_verified)

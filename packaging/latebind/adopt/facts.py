"""Name, version, licence and repository of a project, from CMake, pyproject.toml, its licence file and git."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from latebind.adopt.runtime_module import find_package
from latebind.config.config import import_name
from latebind.config.file import tables_of
from latebind.errors import ToolError
from latebind.semver import version_of
from latebind.system.programs import which
from latebind.system.run import run

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.adopt.find import Found

_TIME_LIMIT = 30.0
_OTHER_FOLDERS = {"doc", "docs", "examples", "external", "test", "tests", "third_party", "tools", "vendor"}
_LICENCE_FILES = ("LICEN[CS]E*", "COPYING*")
# A line that only this licence's text has.
_LICENCES = {
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "Apache License",
    "BSD-3-Clause": "Neither the name of",
    "BSD-2-Clause": "Redistribution and use in source and binary forms",
    "MPL-2.0": "Mozilla Public License Version 2.0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What packages state about a project; "" for what is not known."""

    name: str
    distribution: str
    """Name of the wheel: what pyproject.toml says, else the project's."""
    module_name: str
    """The name with which Python imports the wheel's package, where it does not follow from the wheel's; else ""."""
    description: str
    version: str
    licence: str
    licence_file: str
    authors: tuple[str, ...]
    repository: str
    pyproject: str
    python_folder: str
    """The folder of pyproject.toml, relative to the project's: `.`, or a subfolder with the only Python package."""
    notes: tuple[str, ...]


def facts(discovery: Found) -> Facts:
    """Gather the facts; each guess becomes a note."""
    folder = _find_python(discovery.root)
    file = discovery.root / folder / "pyproject.toml"
    text = file.read_text("utf-8", "replace") if file.is_file() else ""
    project: dict[str, Any] = (tables_of(text) or {}).get("project", {})
    name = discovery.name if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", discovery.name) else ""
    name = name or project.get("name", "") or discovery.root.name
    version = next(filter(version_of, [discovery.version, project.get("version", ""), _tag(discovery.root)]), "")
    licence_file, recognized = _find_licence(discovery.root)
    licence = project.get("license", "")
    if not isinstance(licence, str) or not _is_spdx(licence):
        licence = recognized
    notes = (
        []
        if version
        else ["no version was found in project(), pyproject.toml or git, so latebind.toml has version 0.1.0"]
    )
    if not licence:
        what = f"the license in {licence_file.name} was not recognized" if licence_file else "no license was found"
        notes.append(f"{what}: write the license's SPDX expression into latebind.toml")
    people = project.get("authors", [])
    distribution = project.get("name", "") or name
    package = find_package(discovery.root / folder, text)
    return Facts(
        name=name,
        distribution=distribution,
        module_name=package.name if package is not None and package.name != import_name(distribution) else "",
        description=project.get("description", "") or discovery.description,
        version=version or "0.1.0",
        licence=licence,
        licence_file=licence_file.name if licence_file else "",
        authors=tuple(author["name"] for author in people if isinstance(author, dict) and "name" in author),
        repository=git_output(discovery.root, "remote", "get-url", "origin") if _is_repository(discovery.root) else "",
        pyproject=text,
        python_folder=folder,
        notes=tuple(notes),
    )


def _find_python(root: Path) -> str:
    """The folder of the project's pyproject.toml: a subfolder's, if it is the only one with a Python package."""
    if (root / "pyproject.toml").is_file():
        return "."
    files = [file for file in root.glob("*/pyproject.toml") if file.parent.name not in _OTHER_FOLDERS]
    folders = [file.parent for file in files if find_package(file.parent, file.read_text("utf-8", "replace"))]
    return folders[0].name if len(files) == len(folders) == 1 else "."


def _is_spdx(text: str) -> bool:
    try:
        return bool(canonicalize_license_expression(text))
    except InvalidLicenseExpression:
        return False


def _find_licence(root: Path) -> tuple[Path | None, str]:
    """The license's file and SPDX expression: of the first file that is recognized, else the first file without one."""
    files = [path for pattern in _LICENCE_FILES for path in sorted(root.glob(pattern)) if path.is_file()]
    for path in files:
        text = path.read_text("utf-8", "replace")
        for name, line in _LICENCES.items():
            if line in text:
                return path, name
    return next(iter(files), None), ""


def _tag(root: Path) -> str:
    return git_output(root, "describe", "--tags", "--abbrev=0").removeprefix("v") if _is_repository(root) else ""


def _is_repository(root: Path) -> bool:
    return (root / ".git").exists()


def git_output(root: Path, *arguments: str) -> str:
    """What git prints; "" when git is missing or fails. Only addresses without a user's name or secret are used."""
    git = which("git")
    if git is None:
        return ""
    try:
        ended = run([git, *arguments], cwd=root, timeout=_TIME_LIMIT, check=False)
    except ToolError:
        return ""
    output = ended.output.strip()
    secret = "://" in output and "@" in output
    return (
        "" if ended.returncode or secret or (arguments[0] == "remote" and not output.startswith("https://")) else output
    )


def find_branch(repository: Path) -> str:
    """The branch that a repository is developed on: the remote's default, else the current one, else main."""
    if not _is_repository(repository):
        return "main"
    remote = git_output(repository, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    return (
        remote.removeprefix("origin/") or git_output(repository, "symbolic-ref", "--quiet", "--short", "HEAD") or "main"
    )

"""Name, version, licence and repository of a project, from CMake, pyproject.toml, its licence file and git."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from latebind import __version__
from latebind.config.described import version_of
from latebind.config.file import tables_of
from latebind.errors import ToolError
from latebind.system.run import run, which

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.adopt.find import Found

_TIME_LIMIT = 30.0
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
    version: str
    licence: str
    licence_file: str
    authors: tuple[str, ...]
    repository: str
    pyproject: str
    notes: tuple[str, ...]
    latebind: str = __version__


def facts(found: Found) -> Facts:
    """Gather the facts; each guess becomes a note."""
    file = found.root / "pyproject.toml"
    text = file.read_text("utf-8") if file.is_file() else ""
    project: dict[str, Any] = (tables_of(text) or {}).get("project", {})
    name = found.name if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", found.name) else ""
    name = name or project.get("name", "") or found.root.name
    version = next(filter(version_of, [found.version, project.get("version", ""), _tag(found.root)]), "")
    licence_file = next((path for path in sorted(found.root.glob("LICEN[CS]E*")) if path.is_file()), None)
    licence = project.get("license", "")
    if not isinstance(licence, str) or not licence:
        licence = _licence(licence_file)
    notes = [] if version else ["no version was found in project(), pyproject.toml or git: 0.1.0 is written"]
    notes += [] if licence else ["no licence was found: write its SPDX expression into latebind.toml"]
    people = project.get("authors", [])
    return Facts(
        name=name,
        version=version or "0.1.0",
        licence=licence,
        licence_file=licence_file.name if licence_file else "",
        authors=tuple(row["name"] for row in people if isinstance(row, dict) and "name" in row),
        repository=git_output(found.root, "remote", "get-url", "origin") if _is_repository(found.root) else "",
        pyproject=text,
        notes=tuple(notes),
    )


def _licence(file: Path | None) -> str:
    text = file.read_text("utf-8", "replace") if file else ""
    return next((name for name, line in _LICENCES.items() if line in text), "")


def _tag(root: Path) -> str:
    return git_output(root, "describe", "--tags", "--abbrev=0").removeprefix("v") if _is_repository(root) else ""


def _is_repository(root: Path) -> bool:
    return (root / ".git").exists()


def git_output(root: Path, *words: str) -> str:
    """What git prints; "" when git is missing or fails. Only addresses without a user's name or secret are used."""
    git = which("git")
    if git is None:
        return ""
    try:
        ended = run([git, *words], cwd=root, timeout=_TIME_LIMIT, check=False)
    except ToolError:
        return ""
    said = ended.output.strip()
    secret = "://" in said and "@" in said
    return "" if ended.returncode or secret or (words[0] == "remote" and not said.startswith("https://")) else said

"""Reads what a wheel source needs for its build, and refuses a build whose requirements are not installed."""

from __future__ import annotations

from pathlib import Path

import msgspec
from build import check_dependency
from packaging.requirements import Requirement

from latebind.errors import BuildError

OWN_REQUIREMENTS = frozenset({"latebind"})
"""The distributions whose hooks this latebind provides itself."""


_FORMER = "latebind-build"
"""A name of early versions of latebind, which no index has: its next owner would run code in the build."""


class _BuildSystem(msgspec.Struct, frozen=True):
    requires: tuple[str, ...] = ()


class _Pyproject(msgspec.Struct, frozen=True, rename="kebab"):
    build_system: _BuildSystem = _BuildSystem()


def build_requirements(pyproject: Path) -> tuple[str, ...]:
    """The list `build-system.requires` of a file. Raises OSError, msgspec.DecodeError or UnicodeDecodeError."""
    return msgspec.toml.decode(pyproject.read_bytes(), type=_Pyproject).build_system.requires


def refuse_missing_requirements(source: Path) -> None:
    """Raises BuildError with the build requirements of a wheel source that this environment lacks.

    An unreadable file passes: the backend reports what is wrong with it.
    """
    file = source / "pyproject.toml"
    try:
        needs = [need for need in build_requirements(file) if Requirement(need).name not in OWN_REQUIREMENTS]
    except (OSError, msgspec.DecodeError, ValueError):
        return
    if any(Requirement(need).name == _FORMER for need in needs):
        raise BuildError(
            f"the build requires {_FORMER}, which no longer exists",
            where=str(file),
            advice='Write "latebind>=0.1" in its place, below [build-system].',
        )
    missing = [need for need in needs if next(iter(check_dependency(need)), None)]
    if missing:
        names = " ".join(f'"{need}"' for need in missing)
        raise BuildError(
            f"build requirements are not installed: {', '.join(missing)}",
            where=str(file),
            advice=f"Run: pip install {names}",
        )

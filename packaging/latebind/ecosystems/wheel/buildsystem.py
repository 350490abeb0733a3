"""Reads what a wheel source needs to be built, and writes what its sdist does (PEP 517).

An sdist has the build backend in it ("In-tree"), or requires it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
import tomlkit
from build import check_dependency
from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import Version

from latebind import __version__
from latebind.backend.recipe import BACKEND
from latebind.backend.tree import list_tree
from latebind.config.file import tables_of
from latebind.errors import BuildError
from latebind.fingerprint import PACKAGE
from latebind.system.resources import license_file

BUILD_BACKEND = "latebind.backend.pep517"
"""The build backend of an sdist, whether it carries that or requires it."""
BACKEND_REQUIREMENTS = ("hatchling>=1.29,<2", "packaging>=24.2")
"""What the carried backend imports: an installer gets these and nothing else."""
ABI3_REQUIREMENT = "abi3info==2026.9.25"
"""What it imports for modules of the stable ABI; pinned as in loadcheck's own pyproject.toml."""
OWN_REQUIREMENTS = frozenset({"latebind"})
"""The distributions whose hooks this latebind provides itself."""
_FORMER = "latebind-build"
"""A name of early versions of latebind, which no index has: its next owner would run code in the build."""
_HATCHLING = BACKEND_REQUIREMENTS[0]
_TABLE = "build-system"
_ENTRY_POINTS = "[hatch]\nlatebind = latebind.backend.hooks\n"
_METADATA = f"""\
Metadata-Version: 2.4
Name: latebind
Version: {__version__}
Summary: The build backend of latebind, which builds wheels from this sdist
License-Expression: MIT
License-File: LICENSE
"""


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


def carried_backend() -> Mapping[str, bytes]:
    """The files of the backend as an sdist carries them, by their paths in its folder.

    hatchling finds the hooks by the entry point of a distribution, so the copy is one.
    """
    files = [PACKAGE / "__init__.py", *list_tree(PACKAGE / "backend")]
    info = f"latebind-{__version__}.dist-info"
    return {
        **{f"latebind/{path.relative_to(PACKAGE).as_posix()}": path.read_bytes() for path in files},
        f"{info}/METADATA": _METADATA.encode(),
        f"{info}/entry_points.txt": _ENTRY_POINTS.encode(),
        f"{info}/licenses/LICENSE": license_file().read_bytes(),
    }


def required_backend() -> str:
    """The requirement of an sdist that carries no backend: the versions that read the recipes of this one."""
    version = Version(__version__)
    return f"latebind>={version},<{version.major}.{version.minor + 1}"


def sdist_pyproject(file: Path, module_kind: str = "", backend: Literal["carried", "required"] = "carried") -> str:
    """The text of a pyproject.toml as the sdist has it: built by the backend of latebind; every other line is kept.

    `module_kind` is that of the project's Python modules; "" for none.

    Raises BuildError when the file has another backend than hatchling.
    """
    text = file.read_text("utf-8-sig")  # editors of Windows write a byte order mark
    tables = tables_of(text) or {}
    system = tables.get(_TABLE, {})
    if system.get("build-backend") != "hatchling.build" or "backend-path" in system:
        text = (
            "the sdist has its own build backend and backend-path, so the project cannot have a backend-path"
            if "backend-path" in system
            else f"the sdist would be built by {system.get('build-backend', 'setuptools')}, which does not run latebind"
        )
        raise BuildError(
            text,
            where=f"{file}, [{_TABLE}]",
            advice='Write build-backend = "hatchling.build" and remove backend-path.',
        )
    document = tomlkit.parse(text)
    carried = (*BACKEND_REQUIREMENTS, *([ABI3_REQUIREMENT] if "abi3" in module_kind else []))
    needed = carried if backend == "carried" else (_HATCHLING, required_backend())
    build_system = {"requires": _requirements(needed, system.get("requires", [])), "build-backend": BUILD_BACKEND}
    table = tomlkit.item(build_system | ({"backend-path": [BACKEND]} if backend == "carried" else {}))
    comment = f"has its build backend in {BACKEND}/" if backend == "carried" else "requires latebind to be built"
    table.comment(f"by latebind: the sdist {comment}")
    document[_TABLE] = table
    return tomlkit.dumps(document)


def _requirements(needed: Sequence[str], project_requirements: Sequence[str]) -> list[str]:
    """The build requirements of an sdist: the backend's, then those of the project that say more."""
    ours = {Requirement(need).name: Requirement(need) for need in needed}
    requirements = []
    for text in project_requirements:
        try:
            need = Requirement(text)
        except InvalidRequirement:
            requirements.append(text)  # the installer says what is wrong with it
            continue
        counterpart = ours.get(need.name)
        if need.name not in OWN_REQUIREMENTS and (
            counterpart is None or not set(need.specifier) <= set(counterpart.specifier)
        ):
            requirements.append(text)
    return [*needed, *requirements]

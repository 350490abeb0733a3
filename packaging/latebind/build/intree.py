"""Chooses the part of latebind that an sdist carries, and names it there as the build backend (PEP 517, "In-tree")."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from latebind import __version__
from latebind.build.requirements import OWN_REQUIREMENTS
from latebind.config.config import BACKEND, SDIST_BACKEND
from latebind.config.file import tables_of
from latebind.errors import BuildError
from latebind.fingerprint import LOADCHECK, PACKAGE, digest, library_versions
from latebind.system.resources import folder, license_file
from latebind.system.tree import hash_file, is_scratch

BACKEND_REQUIREMENTS = (
    "hatchling>=1.29,<2",
    "filelock>=3.20.1",
    "msgspec>=0.21,<1",
    "packaging>=24.2",
    "tomli>=2; python_version < '3.11'",
)
"""What that copy imports: an installer gets these and nothing else."""
ABI3_REQUIREMENT = "abi3info==2026.9.25"
"""What it imports for modules of the stable ABI; pinned as in latebind's own pyproject.toml."""
_WITH_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
"""What an import can be, or be in: most of a tree is expressions, and to visit them takes most of the time."""
_ROOTS = (BACKEND, "latebind.ecosystems.wheel.hatch")
_TABLE = "build-system"
_ENTRY_POINTS = "[hatch]\nlatebind = latebind.ecosystems.wheel.hatch\n"
_METADATA = f"""\
Metadata-Version: 2.4
Name: latebind
Version: {__version__}
Summary: The modules of latebind that build wheels from this sdist
License-Expression: MIT
"""


@cache
def backend_files(package: Path = PACKAGE) -> Mapping[str, Path]:
    """The files of latebind and loadcheck that a build from an sdist uses, by their place in the sdist's copy.

    They are the modules that the backend and the hooks import, in whatever function, with tables and templates. The
    copy has the same ones, so that it makes the same key of a stage.
    """
    paths: dict[str, Path] = {}
    imported = _imported_files(package)
    for top in (package, LOADCHECK):
        name = "latebind" if top == package else "loadcheck"
        files = [path for path in imported if path.is_relative_to(top)]
        # A table next to a module of its name is read by that module alone.
        tables = (path for path in (top / "tables").rglob("*.toml") if not path.with_suffix(".py").is_file())
        files += [*tables, *(table for path in files if (table := path.with_suffix(".toml")).is_file())]
        paths |= {f"{name}/{path.relative_to(top).as_posix()}": path for path in files}
    paths |= {f"latebind/_data/templates/{path.name}": path for path in folder("templates").glob("*.in")}
    paths["latebind/_data/LICENSE"] = license_file()
    return dict(sorted((name, path) for name, path in paths.items() if not is_scratch(path.name)))


def hash_backend(package: Path = PACKAGE) -> str:
    """A hash of those files and of the libraries that they use: the same in latebind and in an sdist's copy of it."""
    files = (f"{name} {hash_file(path)}" for name, path in backend_files(package).items())
    return digest([*files, *library_versions()])


def backend_texts() -> Mapping[str, bytes]:
    """The content of the folder with the backend, by name.

    hatchling finds the hooks by the entry point of a distribution, so the copy is one.
    """
    info = f"latebind-{__version__}.dist-info"
    metadata_files = {f"{info}/METADATA": _METADATA.encode(), f"{info}/entry_points.txt": _ENTRY_POINTS.encode()}
    return {**{name: path.read_bytes() for name, path in backend_files().items()}, **metadata_files}


def sdist_pyproject(file: Path, module_kind: str = "") -> str:
    """The text of a pyproject.toml as the sdist has it: built by the backend in the sdist; every other line is kept.

    `module_kind` is that of the project's Python modules; "" for none.

    Raises BuildError when the file has another backend than hatchling.
    """
    text = file.read_text("utf-8-sig")  # editors of Windows write a byte order mark
    tables = tables_of(text) or {}
    system = tables.get(_TABLE, {})
    if system.get("build-backend") == BACKEND:
        return text  # an unpacked sdist
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
    needed = (*BACKEND_REQUIREMENTS, *([ABI3_REQUIREMENT] if "abi3" in module_kind else []))
    build_system = {
        "requires": _requirements(needed, system.get("requires", [])),
        "build-backend": BACKEND,
        "backend-path": [SDIST_BACKEND],
    }
    import tomlkit  # noqa: PLC0415  # a build from an sdist does without it

    document = tomlkit.parse(text)
    table = tomlkit.item(build_system)
    table.comment(f"by latebind: the sdist has its build backend in {SDIST_BACKEND}/")
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


def _imported_files(package: Path) -> list[Path]:
    """The modules that the backend imports, directly or not, and the packages that they are in."""
    present, modules = _list_modules(package), dict[str, Path | None]()
    folders = package.glob("ecosystems/*/config.py")  # found by the registry
    names = [*_ROOTS, *sorted(f"latebind.ecosystems.{path.parent.name}.config" for path in folders)]
    for name in names:
        for module in itertools.accumulate(name.split("."), "{}.{}".format):
            if module not in modules:
                path = modules[module] = present.get(module)
                names += _imported_names(path) if path else []
    return [path for path in modules.values() if path]


def _list_modules(package: Path) -> dict[str, Path]:
    """The files of latebind and loadcheck by module.

    Nobody asks whether there is a file for a name: macOS and Windows would take `Image` for image.py.
    """
    tops = {"latebind": package, "loadcheck": LOADCHECK}
    files = ((name, top, path) for name, top in tops.items() for path in top.rglob("*.py"))
    return {
        ".".join([name, *path.relative_to(top).with_suffix("").parts]).removesuffix(".__init__"): path
        for name, top, path in files
    }


def _imported_names(path: Path) -> list[str]:
    """What a module imports from latebind or loadcheck when it runs: also names in a module, which are no files."""
    names: list[str] = []
    nodes: list[ast.AST] = [ast.parse(path.read_bytes())]
    for node in nodes:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            nodes += node.orelse
        else:
            nodes += (child for child in ast.iter_child_nodes(node) if isinstance(child, _WITH_STATEMENTS))
    return [name for name in names if name.partition(".")[0] in ("latebind", "loadcheck")]

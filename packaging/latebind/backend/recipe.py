"""What a build needs to know of a project: latebind takes it from latebind.toml, and an sdist has it as JSON.

A project's presets, checks and defaults are resolved in it, so that a build from an sdist needs no code for them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from latebind.backend.sbom import Late
from latebind.backend.toml import freeze

Value = bool | int | str
"""A value of latebind.toml that CMake gets."""
NATIVE, LOADER, BACKEND = "native", "loader", "_latebind"
"""Where an sdist has the native code, the loader and its build backend, wherever the project has them."""
CONFIG = "latebind.toml"
PYPROJECT = "pyproject.toml"
TARGET_VARIABLE = "LATEBIND_TARGET"
KIND_VARIABLE = "LATEBIND_WHEEL_KIND"
"""Which of a package's wheels the hook makes: one of its kinds."""
STAGE_VARIABLE = "LATEBIND_STAGE"
"""The stage that `latebind pack` has built from the same sources: it compiles nothing again to compare two wheels."""
HOOK_GROUP = "pyinstaller40"
"""The group of entry points that PyInstaller 4.0 and newer read."""
_RECIPE, _GENERATED = "recipe.json", "generated"


@dataclass(frozen=True, kw_only=True)
class TargetRecipe:
    """What differs from target to target."""

    floor: str
    """The oldest libc or macOS that it is built for."""
    toolchain: str
    define: Mapping[str, Value]
    """CMake's cache variables."""


@dataclass(frozen=True, kw_only=True)
class StubRecipe:
    """A stub that is linked in the place of a runtime."""

    name: str
    title: str
    minimum: str
    names: Mapping[str, str]
    """CMake's variables for how projects look for the runtime."""
    headers: str = ""
    """A folder of the runtime's official headers, relative to the native code."""


@dataclass(frozen=True, kw_only=True)
class NativeRecipe:
    """How the native code of a project is built."""

    version: str
    cmake: str
    """The folder of the top-level CMakeLists.txt, relative to that of the native code."""
    hashed: str
    """What the native files also depend on, as text that no build reads: all of a recipe is part of their hash."""
    loader: str
    """The hash of the loader."""
    module_kind: str
    """The kind of the Python modules that the native code makes: `cp310-abi3`, `cpython`; "" for none."""
    variables: Mapping[str, str]
    """CMake's cache variables for all targets, which describe the runtimes and the plugins."""
    is_described: bool
    """Whether the project describes a runtime itself; its headers and sources are among the generated files."""
    sources: Mapping[str, str]
    """Archives and folders that CMake would download, relative to the native code."""
    exports: str
    stubs: tuple[StubRecipe, ...]
    targets: Mapping[str, TargetRecipe]


@dataclass(frozen=True, kw_only=True)
class WheelRecipe:
    """What one package's wheel has besides what hatchling puts into it."""

    package: str
    component: str
    kind: str
    """Of the wheel that a user builds."""
    kinds: tuple[str, ...]
    """Of those that `latebind pack` makes."""
    module: str
    """The Python package that gets the native files."""
    not_made: Mapping[str, str]
    """Targets without the package, each with the reason."""
    license_file: str
    """The name of the project's license, for a wheel whose pyproject.toml names none."""
    tool: str
    """The version of latebind, for the SBOM, as everything from here on."""
    sbom: str
    purl: str
    version: str
    license: str
    supplier: str
    companions: tuple[str, ...]
    runtimes: tuple[Late, ...]
    hook: Mapping[str, str] = field(default_factory=dict)
    """The files of the hook for PyInstaller, by their paths in the wheel."""


def write_recipe(native: NativeRecipe, wheel: WheelRecipe, generated: Mapping[str, str]) -> dict[str, bytes]:
    """The files of an sdist that say how it is built, by their paths below its folder of the backend."""
    text = json.dumps({"native": asdict(native), "wheel": asdict(wheel)}, indent=1) + "\n"
    texts = {_RECIPE: text, **{f"{_GENERATED}/{name}": text for name, text in generated.items()}}
    return {name: text.encode() for name, text in texts.items()}


def read_recipe(folder: Path) -> tuple[NativeRecipe, WheelRecipe]:
    """The two parts of the recipe in an unpacked sdist's folder of the backend."""
    tables = json.loads((folder / _RECIPE).read_text("utf-8"))
    native, wheel = tables["native"], tables["wheel"]
    native["stubs"] = tuple(StubRecipe(**stub) for stub in native["stubs"])
    native["targets"] = {rid: TargetRecipe(**row) for rid, row in native["targets"].items()}
    wheel["runtimes"] = tuple(Late(**runtime) for runtime in wheel["runtimes"])
    return NativeRecipe(**native), WheelRecipe(**freeze(wheel))


def read_generated(folder: Path) -> dict[str, str]:
    """The generated files of an unpacked sdist, by name."""
    top = folder / _GENERATED
    return {path.relative_to(top).as_posix(): path.read_text("utf-8") for path in top.rglob("*") if path.is_file()}


def is_sdist(root: Path) -> bool:
    """Whether a folder is an unpacked sdist of latebind's."""
    return (root / BACKEND / _RECIPE).is_file() and (root / "PKG-INFO").is_file()


def hook_entry(module: str) -> tuple[str, str]:
    """Name and object of the entry point of the hook for PyInstaller."""
    return "hook-dirs", f"{module}._pyinstaller:get_hook_dirs"

"""Checks the sources that a configuration names: those of the native build and of wheels."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec
from packaging.utils import canonicalize_name

from latebind.config.config import BACKEND
from latebind.errors import LatebindError
from loadcheck.text import DOCS

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.config.reader import Reader

_BACKENDS = ("hatchling.build", BACKEND)
"""The build backends that run latebind's hooks. A project may wrap one in a backend of its own (`backend-path`)."""
_HATCHLING = (
    'Write build-backend = "hatchling.build", requires = ["hatchling>=1.29", "latebind>=0.1"] and latebind\'s two '
    f"hooks: {DOCS}/howto/adopt.md"
)


def check_source(config: Config, reader: Reader) -> None:
    """Check that native source and headers exist, and that wheels have the names of their sources."""
    document = config.document
    source = config.native_source
    if not source.resolve().is_relative_to(config.root):
        reader.problem(("native", "source"), f"the native source {document.native.source} is outside {config.root}")
    elif config.is_built_elsewhere:
        _check_external(config, reader)
    elif not (config.cmake_source / "CMakeLists.txt").is_file():
        key = "cmake" if document.native.cmake else "source"
        folder = "/".join(filter(None, [document.native.source, document.native.cmake]))
        reader.problem(
            ("native", key),
            f"the native source {folder}/CMakeLists.txt does not exist",
            f"Set native.{key} to the folder of the top-level CMakeLists.txt. If another build system makes the native "
            'files, write build = "external" below [native].',
        )
    for index, runtime in enumerate(document.runtime):
        if runtime.headers and runtime.drop_in and not (source / runtime.headers).is_dir():
            headers = PurePosixPath(document.native.source, runtime.headers)
            reader.problem(
                ("runtime", index, "headers"),
                f"the folder {runtime.headers} does not exist",
                f"Name the folder of the headers, or run: latebind headers {runtime.name} {runtime.minimum} "
                f"--output {headers}",
            )
    if not config.unpacked:  # an sdist has the wheel source of one package alone
        _check_wheel_sources(config, reader)


def _check_external(config: Config, reader: Reader) -> None:
    """Check that the folder is there, and that nothing is set that only a build by latebind could follow."""
    native = config.document.native
    if not config.native_source.is_dir():
        text = f"the native source {native.source} is not a folder"
        reader.problem(("native", "source"), text, 'Name the folder of the native code, such as source = "src".')
    for key in ("cmake", "sources", "define", "hide", "symbols"):
        if getattr(native, key):
            text = f'native.{key} has no effect with build = "external"'
            reader.problem(("native", key), text, f"Remove {key}, and set it in your own build.")


def _check_wheel_sources(config: Config, reader: Reader) -> None:
    for name, source in config.wheel_sources.items():
        path = config.root / source / "pyproject.toml"
        tables = _read_pyproject(path)
        own_name, wheel_name = _find(tables, "project", "name"), config.wheel_name(name)
        if own_name and canonicalize_name(own_name) != canonicalize_name(wheel_name):
            shown = PurePosixPath(source, "pyproject.toml")
            message = f"the wheel is named {own_name} in {shown}, but {wheel_name} in {config.file.name}"
            reader.problem(("package", name, "wheel"), message, f'Set package.{name}.wheel.name = "{own_name}".')
        backend = _find(tables, "build-system", "build-backend") or "setuptools"
        if own_name and backend not in _BACKENDS and not _find(tables, "build-system", "backend-path"):
            message = f"{backend} does not run latebind's hooks, which put the native files into the wheel"
            where = f"{path}: build-system.build-backend"
            reader.problems.append(LatebindError(message, where=where, advice=_HATCHLING))


def _read_pyproject(path: Path) -> dict[str, Any]:
    """A pyproject.toml's tables; no tables where others will report what is wrong."""
    try:
        return msgspec.toml.decode(path.read_text("utf-8-sig"))  # type: ignore[no-any-return]
    except (OSError, ValueError, RecursionError):
        return {}


def _find(tables: dict[str, Any], table: str, key: str) -> str:
    """The value of a key as text; "" where it isn't there, or the table is none."""
    values = tables.get(table)
    value = values.get(key, "") if isinstance(values, dict) else ""
    return value if isinstance(value, str) else "".join(map(str, value if isinstance(value, list) else ()))

"""Checks the sources that a configuration names: those of the native build and of wheels."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from pathlib import Path

    from latebind.config.config import Config
    from latebind.config.reader import Reader


def check_source(config: Config, reader: Reader) -> None:
    """Check that the native source exists, inside the project, and that wheels have the names of their sources."""
    document = config.document
    source = config.native_source
    if not source.resolve().is_relative_to(config.root):
        reader.problem(("native", "source"), f"the native source {document.native.source} is outside {config.root}")
    elif not (config.cmake_source / "CMakeLists.txt").is_file():
        key = "cmake" if document.native.cmake else "source"
        folder = "/".join(filter(None, [document.native.source, document.native.cmake]))
        reader.problem(
            ("native", key),
            f"the native source {folder}/CMakeLists.txt is not there",
            f"Set native.{key} to the folder of the top CMakeLists.txt.",
        )
    if not config.unpacked:  # an sdist has the wheel source of one package alone
        _check_wheel_sources(config, reader)


def _check_wheel_sources(config: Config, reader: Reader) -> None:
    for name, source in config.wheel_sources.items():
        here = ("package", name, "wheel")
        path = config.root / source / "pyproject.toml"
        shown = PurePosixPath(source, "pyproject.toml")
        own_name, wheel_name = _project_name(path), config.wheel_name(name)
        if own_name and canonicalize_name(own_name) != canonicalize_name(wheel_name):
            text = f"the wheel is named {own_name} in {shown}, but {wheel_name} in {config.file.name}"
            reader.problem(here, text, f'Write name = "{own_name}" in wheel of package.{name}.')


def _project_name(path: Path) -> str:
    """The name of a distribution as its pyproject.toml has it; "" where others will report what is wrong."""
    try:
        name = msgspec.toml.decode(path.read_text("utf-8-sig"))["project"]["name"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""
    return name if isinstance(name, str) else ""

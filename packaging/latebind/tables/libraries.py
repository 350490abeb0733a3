"""Where latebind's own descriptions of libraries are: one TOML file per library, with the keys of runtime.describe."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).with_name("libraries")


@cache
def library_files() -> Mapping[str, Path]:
    """The descriptions by name, sorted."""
    return {file.stem: file for file in sorted(_FOLDER.glob("*.toml"))}

"""The libraries that latebind itself describes, or that a file describes, in the form of presets."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec

from latebind.config.described import DescribedFile
from latebind.tables.libraries import library_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from latebind.tables.presets import RuntimePreset


def read_description(file: Path) -> DescribedFile:
    """A description of a library. Raises msgspec.ValidationError or msgspec.DecodeError for another file."""
    return msgspec.toml.decode(file.read_bytes(), type=DescribedFile)


@cache
def libraries() -> Mapping[str, RuntimePreset]:
    """Those that latebind describes, by name."""
    return {name: read_description(file).preset() for name, file in library_files().items()}

"""Reads what a project configures for loadcheck: `[tool.loadcheck]` of pyproject.toml."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from loadcheck.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The table `[tool.loadcheck]`."""

    resolve: bool = False
    """The same as `--resolve`."""


class _Tools(msgspec.Struct, frozen=True):
    loadcheck: Configuration = Configuration()


class _File(msgspec.Struct, frozen=True):
    tool: _Tools = _Tools()


def read_configuration(folder: Path) -> Configuration:
    """What the pyproject.toml of a folder says, or of the nearest folder above it in the same repository.

    Raises InputError for a table with an unknown key or a wrong value, and for a file that is not TOML.
    """
    for place in (folder.resolve(), *folder.resolve().parents):
        path = place / "pyproject.toml"
        if path.is_file():
            return _read(path)
        if (place / ".git").exists():
            break
    return Configuration()


def _read(path: Path) -> Configuration:
    try:
        table: Any = msgspec.toml.decode(path.read_bytes())
        return msgspec.convert(table, _File).tool.loadcheck
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, OSError) as error:
        advice = "The table [tool.loadcheck] has one key: resolve = true."
        raise InputError(f"cannot be read: {error}", where=str(path), advice=advice) from error

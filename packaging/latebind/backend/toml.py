"""Reads TOML with what every build has: Python's own reader, or before 3.11 the one that hatchling brings."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib  # type: ignore[import-not-found, unused-ignore]


def read_table(path: Path) -> dict[str, Any]:
    """The tables of a file that latebind itself wrote."""
    table: dict[str, Any] = tomllib.loads(path.read_text("utf-8"))
    return table


def freeze(table: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a table, with tuples for lists."""
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}

"""The GitHub actions that generated workflows use, each pinned by commit (actions.toml)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec


class Action(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One release of an action."""

    version: str
    """Its tag: `v7.0.1`."""
    commit: str


@cache
def actions() -> dict[str, Action]:
    """Every action by its repository: `actions/checkout`."""
    return msgspec.toml.decode(Path(__file__).with_name("actions.toml").read_bytes(), type=dict[str, Action])

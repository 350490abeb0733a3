"""Reads what a project configures for loadcheck: loadcheck.toml, or `[tool.loadcheck]` of pyproject.toml."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import msgspec

from loadcheck.engine.baseline import DECODE_ERRORS
from loadcheck.engine.policy import Waiver
from loadcheck.errors import InputError
from loadcheck.model import FailOn, Profile

if TYPE_CHECKING:
    from pathlib import Path

FILE = "loadcheck.toml"


class _Waiver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A finding that the project accepts."""

    code: str
    reason: str
    subject: str = "*"
    """A pattern of `package!file`: `*.whl!demo/libx.so`."""


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a project writes: options of the same names, and the findings that it accepts."""

    profile: Profile | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: FailOn | None = None
    strict: bool = False
    resolve: bool | None = None
    waive: tuple[_Waiver, ...] = ()

    @property
    def waivers(self) -> tuple[Waiver, ...]:
        """The findings that are accepted. Raises UserError for a waiver with an empty reason."""
        return tuple(Waiver(code=row.code, subject=row.subject, reason=row.reason) for row in self.waive)


def read_configuration(folder: Path) -> Configuration:
    """What the loadcheck.toml of a folder says, or else `[tool.loadcheck]` of its pyproject.toml.

    Without either, the nearest folder above it in the same repository counts. Raises InputError for an unknown key or a
    wrong value, and for a file that is not TOML.
    """
    for place in (folder.resolve(), *folder.resolve().parents):
        if (place / FILE).is_file():
            return _convert(place / FILE, _decode(place / FILE))
        project = place / "pyproject.toml"
        if project.is_file() and (table := _find_table(_decode(project))) is not None:
            return _convert(project, table)
        if (place / ".git").exists():
            break
    return Configuration()


def _decode(path: Path) -> Any:
    try:
        return msgspec.toml.decode(path.read_bytes())
    except (*DECODE_ERRORS, OSError) as error:
        raise InputError(f"cannot be read: {error}", where=str(path), advice="Correct the file.") from error


def _find_table(document: Any) -> Any:
    """`[tool.loadcheck]`, None without it."""
    tools = document.get("tool", {})
    return tools.get("loadcheck") if isinstance(tools, dict) else None


def _convert(path: Path, table: Any) -> Configuration:
    try:
        return msgspec.convert(table, Configuration)
    except msgspec.ValidationError as error:
        raise InputError(f"cannot be read: {error}", where=str(path), advice=_advise(table)) from error


def _advise(table: Any) -> str:
    """The nearest key for one that is unknown, and all keys."""
    keys = Configuration.__struct_fields__
    unknown = next((key for key in table if key not in keys), "") if isinstance(table, dict) else ""
    near = get_close_matches(unknown, keys, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return f"{meant}The keys are {', '.join(keys)}. Each table of waive has code, reason and subject."

"""Defines the rules of an audit run, and reads descriptions of runtimes for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import msgspec

from latebind.audit.engine.choice import Choice
from latebind.errors import InputError, LatebindError
from latebind.system.decoding import DECODE_ERRORS
from latebind.tables.presets import RuntimePreset, preset, presets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from latebind.model import FailOn, Finding

_ASKED = ("name", "entry_symbols", "file_globs", "linked_globs")


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver:
    """A finding that is accepted. `subject` is a glob over the finding's subject."""

    code: str
    subject: str
    reason: str

    def __post_init__(self) -> None:
        """Refuse a waiver without a reason."""
        if not self.reason.strip():
            raise LatebindError(
                f"the waiver of {self.code} for {self.subject} has no reason",
                advice="Write in `reason` why the finding is accepted. Reports print this reason.",
            )

    def covers(self, finding: Finding) -> bool:
        """Whether this waiver accepts that finding."""
        return finding.code == self.code and fnmatchcase(finding.subject, self.subject)


def runtimes_named(names: Iterable[str], folder: Path) -> tuple[RuntimePreset, ...]:
    """The runtimes to audit against: names of presets, or TOML files in `folder` that each describe one.

    Raises LatebindError for an unknown name, and for a file that does not describe a runtime.
    """
    by_name: dict[str, RuntimePreset] = {}
    for name in names:
        runtime = _read_runtime(folder / name) if name.endswith(".toml") else preset(name)
        by_name[runtime.name] = runtime
    return tuple(by_name.values())


def _read_runtime(path: Path) -> RuntimePreset:
    """A runtime described in a file. Keys that only building and verifying need may be missing."""
    try:
        table = msgspec.toml.decode(path.read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    except DECODE_ERRORS as error:
        raise InputError(f"is not valid TOML: {error}", where=str(path)) from error
    unknown = [key for key in table if key not in RuntimePreset.__struct_fields__]
    if unknown:
        near = get_close_matches(unknown[0], RuntimePreset.__struct_fields__, n=1, cutoff=0.0)[0]
        raise InputError(f"{unknown[0]!r} is not a key of a runtime", where=str(path), advice=f"Did you mean {near!r}?")
    missing = [key for key in _ASKED if not table.get(key)]
    if missing:
        advice = (
            "Set name, entry_symbols (the runtime's exports), file_globs (its files) and linked_globs (files that "
            "binaries need if they link the runtime)."
        )
        raise InputError(f"lacks {', '.join(missing)}", where=str(path), advice=advice)
    python = {"folder": "", "extras": {}, **_table(table.get("python", {}))}
    defaults = {**dict.fromkeys(("environment", "floor", "floor_reason", "built"), ""), "title": table["name"]}
    try:
        return msgspec.convert({**defaults, "files": {}, **table, "python": python}, RuntimePreset)
    except msgspec.ValidationError as error:
        raise InputError(f"does not describe a runtime: {error}", where=str(path)) from error


def _table(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"folder": value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The rules of one audit run. The default fits any package: all known runtimes, no project rules."""

    runtimes: tuple[RuntimePreset, ...] = field(default_factory=lambda: tuple(presets().values()))
    minimums: Mapping[str, str] = field(default_factory=dict)
    """Runtime name to the minimum that every package must declare."""
    drop_ins: frozenset[str] = frozenset()
    """The runtimes that a stub of latebind binds: the code links it and calls no function of latebind."""
    bound: Mapping[str, str] = field(default_factory=dict)
    """What an ecosystem calls a package to the runtime that it binds."""
    requiring: frozenset[str] = frozenset()
    """The distributions that require a runtime by the project's own choice."""
    modules: Mapping[str, str] = field(default_factory=dict)
    """Distribution to the name with which Python imports it."""
    exports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Allowed exports: a glob of library file names, or the name of a distribution or package, to symbol globs."""
    twins: tuple[Mapping[str, str], ...] = ()
    """Packages that contain the same native files: kind to distribution, NuGet id or npm name."""
    glibc: str = ""
    """The configured floor of everything without a tag: nupkgs, folders, bare files. "" for none."""
    macos: str = ""
    """The same for macOS."""
    waivers: tuple[Waiver, ...] = ()
    choice: Choice = field(default_factory=Choice)
    """The checks to apply."""
    fail_on: FailOn = "error"

    def allowed_exports(self, file_name: str, project: str) -> tuple[str, ...] | None:
        """The symbol globs for a library, or None if no rule names it or its package."""
        for key, globs in self.exports.items():
            if fnmatchcase(file_name, key) or (project and key.lower() == project.lower()):
                return globs
        return None

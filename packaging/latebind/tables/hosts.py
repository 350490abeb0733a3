"""The programs that load plugins (hosts.toml): what they look up in a library, and what its packages offer."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import msgspec

from latebind.text import DOCS

_LETTERS = "{letters}"
OPERATORS_ENTRY = "RegisterCustomOps"
"""What a library of custom operators exports, and ONNX Runtime calls with its own functions."""
OPERATORS_ADVICE = (
    f"ONNX Runtime passes its functions to {OPERATORS_ENTRY}(). In C++, include an ort_floor.h with your oldest "
    "version in place of the C++ headers, call Ort::InitApi() with what GetApi() gives, and return an error where "
    f"that is null: {DOCS}/howto/custom-operators.md"
)
"""How a library of custom operators gets the runtime's functions."""


class Host(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A program, or a library in it, that loads plugins by their paths."""

    table: str = "plugin"
    """The table of a package with the settings of its plugins."""
    title: str
    plugin: str
    """What its own documentation calls a plugin."""
    exports: tuple[str, ...]
    """The symbols that it looks up; {letters} stands for those of the library's file name."""
    instead: tuple[str, ...] = ()
    """Symbols with which the first one may be missing."""
    also: tuple[str, ...] = ()
    """Globs of other symbols that a plugin may export."""
    host_symbols: frozenset[str] = frozenset()
    """Exports of the host's own libraries."""
    python: tuple[str, ...] = ()
    """Functions that a Python module has for applications."""
    dotnet: tuple[str, ...] = ()
    """Functions that a .NET assembly has for applications."""
    node: tuple[str, ...] = ()
    """Functions that latebind adds to the module of an npm package."""
    entry_points: str = ""
    """The group of entry points in which Python's packaging metadata names the module."""
    unloads: bool = False
    """Whether it unloads plugins while the process goes on."""
    suffix: str
    """The end of the name of the generated .NET class."""

    def __str__(self) -> str:
        """`SQLite extension`."""
        return f"{self.title} {self.plugin}"

    def list_exports(self, name: str) -> tuple[str, ...]:
        """What the host looks up in a library of that name, which may be the name of its file."""
        return tuple(export.replace(_LETTERS, letters_of(name)) for export in self.exports)

    def is_host_of(self, exported: Collection[str]) -> bool:
        """Whether a library with these exports is a plugin of it."""
        return self.host_symbols.isdisjoint(exported) and any(map(self._entry.fullmatch, exported))

    def list_missing(self, file: str, exported: Collection[str]) -> tuple[str, ...]:
        """What the host looks up in a library with that file name, and the library does not export."""
        first, *others = self.list_exports(file)
        found = not {first, *self.instead}.isdisjoint(exported)
        return tuple(name for name in (*(() if found else (first,)), *others) if name not in exported)

    def may_export(self, symbol: str) -> bool:
        """Whether a symbol is part of the interface between the host and a plugin."""
        globs = (*self.instead, *self.also, *(export.replace(_LETTERS, "*") for export in self.exports))
        return any(fnmatchcase(symbol, glob) for glob in globs)

    @property
    def _entry(self) -> re.Pattern[str]:
        first = re.escape(self.exports[0]).replace(re.escape(_LETTERS), "[a-z]+")
        return re.compile("|".join((first, *map(re.escape, self.instead))))


def letters_of(name: str) -> str:
    """The ASCII letters of a file name up to its first dot, in lower case, without a leading "lib"."""
    stem = name.partition(".")[0].lower().removeprefix("lib")
    return "".join(letter for letter in stem if "a" <= letter <= "z")


@cache
def hosts() -> Mapping[str, Host]:
    """Every host by the name that a configuration gives it."""
    return msgspec.toml.decode(Path(__file__).with_name("hosts.toml").read_bytes(), type=dict[str, Host])

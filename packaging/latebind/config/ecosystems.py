"""The tables and keys that ecosystems add to a configuration, each in its `config.py`.

The tables `wheel`, `nuget`, `sdk`, `ep` and `plugin` are not among them: the native build and other tables depend on
those.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

import msgspec
from msgspec import Meta

from latebind.config.reader import Table
from latebind.registry import collect

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from latebind.config.package import Package

_TableType = TypeVar("_TableType", bound=Table)
_Added = TypeVar("_Added", bound="EcosystemTable")


class EcosystemTable(Table, frozen=True, kw_only=True):
    """A table that says how a package of the configuration becomes a package of one ecosystem."""

    def problems(self) -> Iterator[tuple[str, str, str]]:
        """The key, the problem and advice for each value that types cannot refuse."""
        yield from ()

    @property
    def folders(self) -> dict[str, tuple[str, tuple[str, ...]]]:
        """The folders of the project that it names, by key, each with globs: a file must match one of them."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageKey:
    """A key of `[package.<name>]`, in PACKAGE_KEYS of an ecosystem's `config.py`."""

    name: str
    title: str
    """What people call the ecosystem: `npm`."""
    table: type[EcosystemTable]
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramKey:
    """A key of `[verify]` that names the folder of a program, in PROGRAM_KEYS of an ecosystem's `config.py`."""

    name: str
    description: str


def package_keys() -> tuple[PackageKey, ...]:
    """The keys of all ecosystems."""
    return collect("config", "PACKAGE_KEYS")


def program_keys() -> tuple[ProgramKey, ...]:
    """The keys of all ecosystems."""
    return collect("config", "PROGRAM_KEYS")


def find_tables(packages: Mapping[str, Package], kind: type[_Added]) -> dict[str, _Added]:
    """The tables of an ecosystem, by package."""
    tables = ((name, package.find_table(kind)) for name, package in packages.items())
    return {name: table for name, table in tables if table is not None}


def add_package_keys(base: type[_TableType]) -> type[_TableType]:
    """The type of `[package.<name>]` with the tables of all ecosystems, each of which may be left out."""
    return _extend(base, [(key.name, _describe(key.table | None, key.description), None) for key in package_keys()])


def add_program_keys(base: type[_TableType]) -> type[_TableType]:
    """The type of `[verify]` with the programs of all ecosystems; "" for none."""
    return _extend(base, [(key.name, _describe(str, key.description), "") for key in program_keys()])


def _describe(kind: object, description: str) -> object:
    return Annotated[kind, Meta(description=description)]


def _extend(base: type[_TableType], fields: Sequence[tuple[str, Any, object]]) -> type[_TableType]:
    extended = msgspec.defstruct(
        base.__name__,
        fields,
        bases=(base,),
        namespace={"__doc__": base.__doc__},
        module=base.__module__,
        frozen=True,
        forbid_unknown_fields=True,
        kw_only=True,
    )
    return cast("type[_TableType]", extended)

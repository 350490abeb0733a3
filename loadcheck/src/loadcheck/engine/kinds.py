"""What the audit asks a package of any kind. Each kind answers in its `reading.py`."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadcheck.model import Kind
    from loadcheck.readers.contents import Contents, File

Description = tuple[str, Mapping[str, bool]]
"""The file with what describes a package to people; and what its page in an index shows, each if the package has it."""
_KINDS = ("wheel", "nuget", "npm", "maven", "sdk")
"""In the order in which they are reported."""
NativeFiles = dict[str, dict[str, tuple[str, str]]]
"""RID to file name to (subject of the file, SHA-256)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """A package that a split package depends on: one of its parts."""

    id: str
    range: str
    """The range as the package writes it."""
    version: str
    """The only version that the range admits; "" where it admits several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinFacts:
    """What the comparison of a project's packages needs of one of them."""

    subject: str
    kind: Kind
    project: str
    """The distribution, the NuGet id or npm's name; for a package of one target, that of the whole."""
    version: str
    native: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    """Its native files (`NativeFiles`)."""
    id: str = ""
    """Its own name, where it may be a part of a split package."""
    exact: str = ""
    """The range that allows only its own version."""
    pins: tuple[Pin, ...] = ()
    needs_all: bool = False
    """Whether each of its parts must be there. Of npm's parts only one is installed."""
    lists_all: bool = False
    """Whether a part that it does not depend on is never installed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditedKind:
    """The packages of one kind."""

    kind: Kind
    is_text: Callable[[str, int], bool] = lambda _name, _size: False
    """Whether a member, by name and size, is metadata whose bytes checks need."""
    find_project: Callable[[Contents], str] = lambda _package: ""
    """The distribution, NuGet id or npm name (of the whole, for a part), or ""."""
    find_rid: Callable[[Contents, File], str] = lambda _package, _file: ""
    """The RID for which a folder or the package's name promises a file; "" for none."""
    find_twin_facts: Callable[[Contents], TwinFacts | None] = lambda _package: None
    find_description: Callable[[Contents], Description | None] = lambda _package: None
    """None if it cannot be read, or is elsewhere."""


@cache
def audited_kinds() -> Mapping[Kind, AuditedKind]:
    """The kinds by name, in the order of the ecosystems."""
    modules = (importlib.import_module(f"loadcheck.ecosystems.{kind}.reading") for kind in _KINDS)
    return {kind.kind: kind for module in modules for kind in module.KINDS}


def find_kind(kind: Kind) -> AuditedKind:
    """The kind with a name; for archives, folders and binaries one that knows nothing."""
    return audited_kinds().get(kind) or AuditedKind(kind=kind)


def promised_rid(package: Contents, file: File) -> str:
    """The RID for which a folder or the name of a package promises a file; "" for none."""
    return find_kind(package.kind).find_rid(package, file)

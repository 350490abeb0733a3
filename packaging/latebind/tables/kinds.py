"""The table of package files: how each kind is recognized by its suffix, audited, and whether consumers install it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from latebind.model import Kind


@dataclass(frozen=True, slots=True, kw_only=True)
class FileKind:
    """Files with one suffix. How they are made is in latebind.build.kinds."""

    suffix: str
    kind: Kind
    audited_as: Literal["wheel", "nupkg", "sdist", "npm", "archive", "sdk"]
    is_installed: bool = False
    """Whether consumers install such files, so that `verify` runs them."""


FILE_KINDS = (
    FileKind(suffix=".whl", kind="wheel", audited_as="wheel", is_installed=True),
    FileKind(suffix=".nupkg", kind="nupkg", audited_as="nupkg", is_installed=True),
    FileKind(suffix=".snupkg", kind="snupkg", audited_as="nupkg"),
    FileKind(suffix="-sdk.tar.gz", kind="sdk", audited_as="sdk", is_installed=True),  # before the suffixes that end it
    FileKind(suffix="-sdk.zip", kind="sdk", audited_as="sdk", is_installed=True),
    FileKind(suffix=".tar.gz", kind="sdist", audited_as="sdist"),
    FileKind(suffix=".tgz", kind="npm", audited_as="npm", is_installed=True),
    FileKind(suffix=".zip", kind="symbols", audited_as="archive"),
)
INSTALLED_KINDS = frozenset(row.kind for row in FILE_KINDS if row.is_installed)


def file_kind(name: str) -> Kind:
    """The kind of a package file by its name. Raises ValueError for any other file."""
    for row in FILE_KINDS:
        if name.endswith(row.suffix):
            return row.kind
    raise ValueError(f"{name} is not a package")

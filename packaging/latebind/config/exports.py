"""Compares the exports of libraries with the names that a configuration lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from loadcheck.binary import Image

_WILDCARDS = frozenset("*?[")


def lacking(listed: Iterable[str], images: Sequence[Image]) -> tuple[str, ...]:
    """The exact names of a list that the images of some architecture do not export.

    A name with a wildcard allows exports but does not require any.
    """
    offered: dict[str, set[str]] = {}
    for image in images:
        offered.setdefault(image.arch, set()).update(export.name for export in image.exports)
    exact = (name for name in listed if not set(name) & _WILDCARDS)
    return tuple(name for name in exact if not all(name in names for names in offered.values()))

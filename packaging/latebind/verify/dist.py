"""Packages that somebody made before: found in a folder, hashed, told by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.archive import sha256
from latebind.errors import InputError
from latebind.model import Artifact, Kind, Sha256

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_KINDS: Mapping[str, Kind] = {".whl": "wheel", ".nupkg": "nupkg"}


def artifacts_in(folder: Path) -> tuple[Artifact, ...]:
    """The wheels and nupkgs of a folder, sorted by name.

    Raises InputError when it is no folder or holds none.
    """
    if not folder.is_dir():
        raise InputError("is no folder", where=str(folder), advice="Name the folder that holds the packages.")
    found = [
        Artifact(path=path.resolve(), kind=_KINDS[path.suffix], sha256=Sha256(sha256(path)), size=path.stat().st_size)
        for path in sorted(folder.iterdir())
        if path.suffix in _KINDS
    ]
    if not found:
        raise InputError("holds no wheel and no nupkg", where=str(folder), advice="Make them first: latebind pack.")
    return tuple(found)

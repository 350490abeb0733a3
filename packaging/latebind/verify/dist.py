"""Packages that somebody made before: found in a folder, hashed, told by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from latebind.archive import sha256
from latebind.errors import InputError
from latebind.model import Artifact, Kind, Sha256
from latebind.targets import target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from latebind.model import Rid

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


def wheels_for(rid: Rid, artifacts: Iterable[Artifact]) -> list[Artifact]:
    """The wheels that install on a target, told by the platform tags in their names."""
    return [row for row in artifacts if row.kind == "wheel" and any(_fits(tag, rid) for tag in _platforms(row.path))]


def _platforms(wheel: Path) -> set[str]:
    try:
        *_, tags = parse_wheel_filename(wheel.name)
    except InvalidWheelFilename:  # the installer will say what is wrong with it
        return {"any"}
    return {tag.platform for tag in tags}


def _fits(tag: str, rid: Rid) -> bool:
    if tag == "any":
        return True
    row = target(rid)
    if row.system == "windows":
        return tag == ("win_amd64" if row.arch == "x86_64" else "win_arm64")
    if row.system == "macos":
        return tag.startswith("macosx_") and tag.endswith(
            ("arm64" if row.arch == "aarch64" else "x86_64", "universal2")
        )
    known = ("musllinux",) if row.libc == "musl" else ("manylinux", "linux_")
    return tag.startswith(known) and tag.endswith(row.arch)

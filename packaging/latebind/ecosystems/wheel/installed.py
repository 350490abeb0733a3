"""Asks an environment where the installer put each file of a wheel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution
from pathlib import Path, PurePosixPath

from latebind.errors import LatebindError
from loadcheck.archive import ZipReader

_PYTHON_LINE = b"#!python"
"""Installers write the interpreter's path in place of it (packaging.python.org, "Binary distribution format")."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledFile:
    """A file of a wheel in an environment."""

    name: str
    """In the wheel."""
    place: Path


def list_installed(site: Path, wheel: Path) -> Iterator[InstalledFile]:
    """Every file of a wheel that is installed in `site`, with the very bytes that the wheel has; without RECORD.

    The files of `NAME.data/SCHEME/` are where the installed RECORD says.

    Raises LatebindError for a file that is missing or differs, but for the first line of a script.
    """
    with ZipReader(wheel) as archive:
        names = [member.name for member in archive.members if not member.is_folder]
        record = next(name for name in names if name.endswith(".dist-info/RECORD"))
        written = Distribution.at(site / PurePosixPath(record).parent).files or []
        rows = [PurePosixPath(row) for row in written]
        for name in names:
            if name == record:
                continue
            scheme, path = _split_data(PurePosixPath(name))
            ends = [row for row in rows if row.parts[-len(path.parts) :] == path.parts] if scheme else [path]
            places = [site / row for row in ends]
            if scheme and not any(place.is_file() for place in places):
                places = list(site.rglob(path.name))  # pip --target moves scripts, and not their rows in RECORD
            data = archive.read(name)
            place = next((one for one in places if _is_copy(one, data, scheme)), None)
            if place is None:
                raise LatebindError(
                    f"{name} of {wheel.name} is not installed, or differs: {places[0] if places else site}"
                )
            yield InstalledFile(name=name, place=place)


def _split_data(path: PurePosixPath) -> tuple[str, PurePosixPath]:
    """The scheme of a file in `NAME.data/`, and its path in it; "" for a file that belongs into site-packages."""
    if len(path.parts) > 2 and path.parts[0].endswith(".data"):  # noqa: PLR2004  # the folder, the scheme, the file
        return path.parts[1], PurePosixPath(*path.parts[2:])
    return "", path


def _is_copy(place: Path, data: bytes, scheme: str) -> bool:
    if not place.is_file():
        return False
    found = place.read_bytes()
    is_rewritten = scheme == "scripts" and data.startswith(_PYTHON_LINE)
    return found.endswith(data.partition(b"\n")[2]) if is_rewritten else found == data

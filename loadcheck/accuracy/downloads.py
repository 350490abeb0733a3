"""Downloads wheels from the index that pip or uv is set to, into a folder outside the repository."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.utils import parse_wheel_filename

from loadcheck import InputError
from loadcheck.archive import sha256
from loadcheck.index.download import Downloader
from loadcheck.index.index import Index
from loadcheck.index.settings import read_index_settings

if TYPE_CHECKING:
    from loadcheck.index.pages import IndexFile

_LARGEST = 4 * 1024**3
_SECONDS = 3600.0


def make_folder(name: str) -> Path:
    """A folder in the one that LATEBIND_BENCH_CACHE names, else in ~/.cache."""
    root = Path(os.environ.get("LATEBIND_BENCH_CACHE") or Path.home() / ".cache" / "latebind-bench")
    (root / name).mkdir(parents=True, exist_ok=True)
    return root / name


@cache
def list_files(project: str) -> tuple[IndexFile, ...]:
    """The wheels and sdists of a project. Raises InputError if the index cannot be asked."""
    return Index(read_index_settings()).list_files(project)


def download(file: IndexFile, limit: int = _LARGEST) -> Path:
    """A file of the index, with at most `limit` bytes. Raises InputError."""
    path = make_folder("wheels") / file.name
    if not path.is_file():
        path.write_bytes(Downloader(longest=_SECONDS).get(file.url, limit).data)
    return _check_hash(path, file.sha256)


def find_pinned(name: str, digest: str) -> Path:
    """A wheel by its name and SHA-256, downloaded if it is not there yet. Raises InputError."""
    path = make_folder("wheels") / name
    if path.is_file():
        return _check_hash(path, digest)
    for file in list_files(parse_wheel_filename(name)[0]):
        if (file.name, file.sha256) == (name, digest):
            return download(file)
    raise InputError("the index has no such wheel", where=name)


def _check_hash(path: Path, digest: str) -> Path:
    if sha256(path) != digest:
        raise InputError("has another SHA-256 than it should: remove it", where=str(path))
    return path

"""Opens wheels, nupkgs, archives, folders and single files as streams of files. Links are never followed."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from loadcheck.archive import ZipReader
from loadcheck.errors import InputError
from loadcheck.formats import find_format
from loadcheck.tarball import TarReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loadcheck.archive import ArchiveProblem
    from loadcheck.readers.contents import SubjectKind

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A file whose bytes are not yet read."""

    name: str
    size: int
    mode: int
    blocks: Callable[[], Iterator[bytes]]


class Source(ABC):
    """Something that holds files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[ArchiveProblem] = []
        self.links: list[str] = []

    @abstractmethod
    def files(self) -> Iterator[Raw]:
        """The files, in their stored order."""


def open_source(path: Path, kind: SubjectKind) -> Source:
    """The files of a path. Raises InputError when it is not of that kind."""
    outside: Mapping[SubjectKind, Callable[[Path], Source]] = {"folder": _Folder, "binary": _Bare}
    form = find_format(path.name)
    return outside.get(kind, _Tar if form is not None and form.container == "tar" else _Zip)(path)


class _Zip(Source):
    """A wheel, a nupkg or another zip archive."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._zip = ZipReader(path)
        self.problems = self._zip.problems

    def files(self) -> Iterator[Raw]:
        """The members that are files."""
        with self._zip:
            for member in self._zip.members:
                if not member.is_folder:
                    blocks = partial(self._zip.blocks, member.name)
                    yield Raw(name=member.name, size=member.size, mode=member.mode, blocks=blocks)


class _Bare(Source):
    """A native binary outside of packages."""

    def files(self) -> Iterator[Raw]:
        """The binary itself, under the empty name."""
        status = self._path.stat()
        yield Raw(name="", size=status.st_size, mode=status.st_mode, blocks=partial(_blocks, self._path))


class _Folder(Source):
    """A folder with everything below it except packages, which are audited separately."""

    def files(self) -> Iterator[Raw]:
        """The regular files. Links are recorded but not followed; pipes and devices are never opened."""
        for folder, names, files in os.walk(self._path):
            names.sort()
            for name in [*names, *sorted(files)]:
                path = Path(folder, name)
                inner = path.relative_to(self._path).as_posix()
                if path.is_symlink():
                    self.links.append(inner)
                elif path.is_file() and find_format(name) is None:
                    status = path.stat()
                    yield Raw(name=inner, size=status.st_size, mode=status.st_mode, blocks=partial(_blocks, path))


def _blocks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error


class _Tar(Source):
    """A compressed tar archive."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._tar = TarReader(path)
        self.problems, self.links = self._tar.problems, self._tar.links

    def files(self) -> Iterator[Raw]:
        """The regular files with plain names; everything else becomes a problem."""
        for member, blocks in self._tar.files():
            yield Raw(name=member.name, size=member.size, mode=member.mode, blocks=blocks)

"""Opens packages, folders and single files as streams of files. Links are never followed."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from loadcheck.containers import Raw, Source, Zip
from loadcheck.errors import InputError
from loadcheck.formats import find_format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loadcheck.readers.contents import SubjectKind

_BLOCK = 1 << 20


def open_source(path: Path, kind: SubjectKind) -> Source:
    """The files of a path. Raises InputError when it is not of that kind."""
    outside: Mapping[SubjectKind, Callable[[Path], Source]] = {"folder": _Folder, "binary": _Bare}
    form = find_format(path.name)
    return outside.get(kind, form.container if form is not None else Zip)(path)


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

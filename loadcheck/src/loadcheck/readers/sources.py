"""Opens packages, folders and single files as streams of files, each once: links are noted, not opened."""

from __future__ import annotations

import os
import posixpath
import stat
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from loadcheck.containers import Raw, Source, Zip
from loadcheck.errors import InputError
from loadcheck.formats import find_format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from loadcheck.model import Kind

_BLOCK = 1 << 20


def open_source(path: Path, kind: Kind) -> Source:
    """The files of a path. Raises InputError when it is not of that kind."""
    outside: Mapping[Kind, Callable[[Path], Source]] = {"folder": _Folder, "binary": _Bare}
    form = find_format(path.name)
    return outside.get(kind, form.container if form is not None else Zip)(path)


class _Bare(Source):
    """A native binary outside of packages."""

    def files(self) -> Iterator[Raw]:
        """The binary itself, under its own name, which may say who loads it: addon.node."""
        status = self._path.stat()
        yield Raw(name=self._path.name, size=status.st_size, mode=status.st_mode, blocks=partial(_blocks, self._path))


class _Folder(Source):
    """A folder with everything below it except packages, which are audited separately."""

    def files(self) -> Iterator[Raw]:
        """The regular files, and the folders that cannot be read, whose blocks say so."""
        closed: list[OSError] = []
        for path in list_files(self._path, closed.append, self._note_link):
            if find_format(path.name) is None:
                status = path.stat()
                yield Raw(
                    name=self._inner(path), size=status.st_size, mode=status.st_mode, blocks=partial(_blocks, path)
                )
        for error in closed:
            yield Raw(name=self._inner(Path(error.filename)), size=0, mode=0, blocks=partial(_refuse, error))

    def _note_link(self, path: Path) -> None:
        name = self._inner(path)
        self.links[name] = ""
        with suppress(OSError):
            target = path.readlink()
            if not target.is_absolute():
                self.links[name] = posixpath.join(posixpath.dirname(name), target.as_posix())

    def _inner(self, path: Path) -> str:
        return path.relative_to(self._path).as_posix()


def list_files(
    folder: Path, on_closed: Callable[[OSError], None], on_link: Callable[[Path], None] = lambda _path: None
) -> Iterator[Path]:
    """The regular files below a folder. Links, pipes and devices are never opened.

    `on_closed` is called for each file or folder that cannot be read, with an error that names it.
    """
    for directory, names, files in os.walk(folder, onerror=on_closed):
        names.sort()
        for name in [*names, *sorted(files)]:
            path = Path(directory, name)
            try:
                mode = path.lstat().st_mode
            except OSError as error:
                on_closed(error)
                continue
            if stat.S_ISLNK(mode):
                on_link(path)
            elif stat.S_ISREG(mode):
                yield path


def _refuse(error: OSError) -> Iterator[bytes]:
    yield from ()
    raise InputError(error.strerror or "unreadable", where=str(error.filename))


def _blocks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block
    except OSError as error:
        raise InputError(error.strerror or "unreadable", where=str(path)) from error

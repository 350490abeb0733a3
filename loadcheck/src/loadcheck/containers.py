"""What packages are: streams of files, out of zip and tar archives, which are read within limits."""

from __future__ import annotations

import posixpath
import tarfile
import tempfile
import zlib
from abc import ABC, abstractmethod
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from loadcheck.archive import MAX_MEMBERS, ArchiveProblem, ZipReader, too_many_members
from loadcheck.errors import InputError, UserError
from loadcheck.text import human_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loadcheck.archive import ArchiveProblemKind

_BLOCK = 1 << 20
_BOMB = 4 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A file whose bytes are not yet read."""

    name: str
    size: int
    mode: int
    blocks: Callable[[], Iterator[bytes]]
    within: str = ""
    """The archive in the package that holds it; "" for the package itself."""


class Source(ABC):
    """Something that holds files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[ArchiveProblem] = []
        self.links: dict[str, str] = {}
        """Each symbolic link with its target, as a path from the root; "" for one that is not to be followed."""

    @abstractmethod
    def files(self) -> Iterator[Raw]:
        """The files, in their stored order."""


class Zip(Source):
    """A wheel, a nupkg or another zip archive.

    Members whose names end with one of `opens` are zip archives, too. Their files come below their names; what is in
    these is not opened again.
    """

    def __init__(self, path: Path, *, opens: tuple[str, ...] = ()) -> None:
        super().__init__(path)
        self._opens = opens
        self._zip = ZipReader(path)
        self.problems = self._zip.problems
        self._names = {member.name for member in self._zip.members}

    def files(self) -> Iterator[Raw]:
        """The members that are files."""
        with self._zip:
            for raw in _list_files(self._zip):
                yield raw
                if raw.name.lower().endswith(self._opens):
                    with tempfile.TemporaryFile() as copy:
                        yield from self._list_inside(raw, copy)

    def _list_inside(self, archive: Raw, copy: IO[bytes]) -> Iterator[Raw]:
        """The files of an archive in this one; what is wrong with it is a problem of this one."""
        try:
            _fill(copy, archive)
        except InputError:
            return  # whoever reads the archive as a file gets the same error
        try:
            inner = ZipReader(Path(archive.name), inside=self._zip, copy=copy)
        except InputError as error:
            self.problems.append(ArchiveProblem(kind="damaged", member=archive.name, detail=error.message))
            return
        for problem in inner.problems:
            name = f"{archive.name}/{problem.member}".rstrip("/")
            self.problems.append(replace(problem, member=name))
        for raw in _list_files(inner):
            name = f"{archive.name}/{raw.name}"
            if name in self._names:
                self.problems.append(ArchiveProblem(kind="duplicate", member=name, detail="stored more than once"))
            else:
                yield replace(raw, name=name, within=archive.name)


def _list_files(archive: ZipReader) -> Iterator[Raw]:
    for member in archive.members:
        if not member.is_folder:
            blocks = partial(archive.blocks, member.name)
            yield Raw(name=member.name, size=member.size, mode=member.mode, blocks=blocks)


def _fill(copy: IO[bytes], raw: Raw) -> None:
    with naming_space(raw):
        for block in raw.blocks():
            copy.write(block)


@contextmanager
def naming_space(raw: Raw) -> Iterator[None]:
    """Raises UserError where there is no room for a temporary copy of a file."""
    try:
        yield
    except OSError as error:
        raise UserError(
            f"{raw.name} needs {human_size(raw.size)} of temporary space: {error.strerror}",
            where=tempfile.gettempdir(),
            advice="Set TMPDIR to a folder with more free space.",
        ) from error


class Tar(Source):
    """A compressed tar archive, read as a stream. Nothing is unpacked to disk.

    `problems` and `links` are complete once all files have been read. Without `keeps_links`, installers leave links
    out, so that they lead to nothing.
    """

    def __init__(self, path: Path, *, keeps_links: bool = True) -> None:
        super().__init__(path)
        self._keeps_links = keeps_links

    def files(self) -> Iterator[Raw]:
        """The regular files with plain names, each to be read before the next; all else is a problem.

        Raises InputError when the file is not a tar archive.
        """
        seen: set[str] = set()
        total = 0
        try:
            with tarfile.open(self._path, "r|*") as archive:
                for number, member in enumerate(archive):
                    total += member.size
                    if number == MAX_MEMBERS:
                        raise too_many_members(self._path, f"more than {MAX_MEMBERS:,}")
                    if total > _BOMB:
                        self._problem(
                            "bomb",
                            member.name,
                            f"the files up to this one have {human_size(total)}; the rest was not read",
                        )
                        return
                    if self._admits(member, seen):
                        blocks = partial(self._read, archive, member)
                        yield Raw(name=member.name, size=member.size, mode=member.mode, blocks=blocks)
        # tarfile passes on the exceptions that it raises while it reads damaged headers.
        except (tarfile.TarError, OSError, EOFError, ValueError, TypeError, zlib.error) as error:
            reason = (isinstance(error, OSError) and error.strerror) or error
            raise InputError(f"not a readable tar archive: {reason}", where=str(self._path)) from error

    def _admits(self, member: tarfile.TarInfo, seen: set[str]) -> bool:
        parts = member.name.split("/")
        if member.isdir():
            return False
        if member.name.startswith("/") or ".." in parts or "\\" in member.name or not member.name:
            self._problem("unsafe-name", member.name, f"the name {member.name!r} is not a plain relative path")
        elif member.issym() or member.islnk():
            self._note_link(member)
        elif not member.isreg():
            self._problem("link", member.name, "not a file, a folder or a link")
        elif member.name in seen:
            self._problem("duplicate", member.name, "stored more than once")
        else:
            seen.add(member.name)
            return True
        return False

    def _note_link(self, member: tarfile.TarInfo) -> None:
        """An sdist may contain links that stay inside it (PEP 721). One that leaves it is an attack."""
        base = "" if member.islnk() else posixpath.dirname(member.name)
        target = posixpath.join(base, member.linkname)
        leads = posixpath.normpath(target)
        top = member.name.partition("/")[0]
        if member.linkname.startswith("/") or leads.split("/")[0] != top:
            self._problem("link", member.name, f"a link to {member.linkname}, outside the archive's folder")
        else:
            self.links[member.name] = target if self._keeps_links else ""

    def _read(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
        try:
            file = archive.extractfile(member)
            while file is not None and (block := file.read(_BLOCK)):
                yield block
        except (tarfile.TarError, OSError, EOFError) as error:
            raise InputError(f"damaged member: {error}", where=f"{self._path.name}!{member.name}") from error

    def _problem(self, kind: ArchiveProblemKind, member: str, detail: str) -> None:
        self.problems.append(ArchiveProblem(kind=kind, member=member, detail=detail))

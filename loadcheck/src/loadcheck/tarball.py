"""Reads untrusted tar archives within limits, and writes deterministic ones."""

from __future__ import annotations

import gzip
import io
import posixpath
import stat
import tarfile
import zlib
from typing import TYPE_CHECKING

from loadcheck.archive import MAX_MEMBERS, ArchiveProblem, replacing, source_date_epoch, too_many_members
from loadcheck.errors import InputError
from loadcheck.text import human_size

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from loadcheck.archive import ArchiveProblemKind, Entry

_BLOCK = 1 << 20
_BOMB = 4 * 1024**3


class TarReader:
    """A compressed tar archive, read as a stream. Nothing is unpacked to disk.

    `problems` and `links` are complete once all files have been read.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[ArchiveProblem] = []
        self.links: list[str] = []

    def files(self) -> Iterator[tuple[tarfile.TarInfo, Callable[[], Iterator[bytes]]]]:
        """The regular files with plain names, each with a function to read it before the next; all else is a problem.

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
                        yield member, self._blocks(archive, member)
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
        leads = posixpath.normpath(posixpath.join(base, member.linkname))
        top = member.name.partition("/")[0]
        if member.linkname.startswith("/") or leads.split("/")[0] != top:
            self._problem("link", member.name, f"a link to {member.linkname}, outside the archive's folder")
        else:
            self.links.append(member.name)

    def _blocks(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> Callable[[], Iterator[bytes]]:
        def blocks() -> Iterator[bytes]:
            try:
                file = archive.extractfile(member)
                while file is not None and (block := file.read(_BLOCK)):
                    yield block
            except (tarfile.TarError, OSError, EOFError) as error:
                raise InputError(f"damaged member: {error}", where=f"{self._path.name}!{member.name}") from error

        return blocks

    def _problem(self, kind: ArchiveProblemKind, member: str, detail: str) -> None:
        self.problems.append(ArchiveProblem(kind=kind, member=member, detail=detail))


def unpack_tar(path: Path, folder: Path) -> Path:
    """The one folder of an archive that latebind made, unpacked into a folder. Raises InputError for any other."""
    safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.10.12, 3.11.4 and newer
    try:
        with tarfile.open(path) as archive:
            archive.extractall(folder, **safe)  # type: ignore[arg-type]  # noqa: S202  # ours
        (root,) = folder.iterdir()
    except (tarfile.TarError, ValueError) as error:
        raise InputError(f"cannot be unpacked: {error}", where=str(path)) from error
    return root


def write_tar(path: Path, entries: Iterable[Entry]) -> None:
    """Write entries as a deterministic .tar.gz: sorted by name, SOURCE_DATE_EPOCH as the time, nobody as the owner.

    An entry whose mode is that of a symbolic link holds the link's target. The archive is written to a temporary file
    and renamed. Raises InputError for a repeated name.
    """
    ordered = sorted(entries, key=lambda entry: entry.name)
    names = [entry.name for entry in ordered]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"stored more than once: {', '.join(twice)}", where=str(path))
    moment = source_date_epoch()
    with (
        replacing(path) as aside,
        aside.open("wb") as file,
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for entry in ordered:
            info = tarfile.TarInfo(entry.name)
            info.mode, info.mtime = stat.S_IMODE(entry.mode), moment
            if stat.S_ISLNK(entry.mode):
                info.type, info.linkname = tarfile.SYMTYPE, entry.data.decode()
                archive.addfile(info)
            else:
                info.size = len(entry.data)
                archive.addfile(info, io.BytesIO(entry.data))

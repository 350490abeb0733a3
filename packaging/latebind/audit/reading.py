"""Opens what is audited and reads each file once, within limits; judges nothing and unpacks nothing to disk."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import tarfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from latebind.archive import Problem, ZipReader
from latebind.audit.subject import File, Kind, Package, WheelName
from latebind.binary import is_managed, read_image, sniff
from latebind.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from latebind.binary import Format

_BLOCK = 1 << 20
_HEAD = 128
_PEEK = 4096
_MAX_TEXT = 64 * 1024**2
_MAX_BINARY = 2 * 1024**3
_MAX_SHOWN_PATHS = 5
_TAR_BOMB = 4 * 1024**3
PACKAGE_KINDS: Mapping[str, Kind] = {
    ".whl": "wheel",
    ".nupkg": "nupkg",
    ".snupkg": "nupkg",
    ".tar.gz": "sdist",
    ".tgz": "sdist",
    ".zip": "archive",
}
# Folders that only a build machine has. Short ones such as /work or /src would match ordinary strings.
_BUILD_FOLDERS = re.compile(rb"/(?:home|root|Users|tmp|var/tmp|builds|workspace|__w|github/workspace|private/var)/")
_WINDOWS_FOLDERS = re.compile(rb":\\(?:Users|a|agent)\\")
# Text that programs hold to use such a folder at run time, not because they were built there.
_REST_OF_PATH = re.compile(rb"[^\x00-\x20\x7f-\xff\"'<>`:;,|*]{1,200}")
_RUN_TIME_PATHS = (b"/tmp/%", b"/tmp/.", b"/tmp/perf-", b"/home/%s", b"/root/.", b"/tmp/\0")


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A file whose bytes are still to be read."""

    name: str
    size: int
    mode: int
    blocks: Callable[[], Iterator[bytes]]


class Source(Protocol):
    """Something that holds files."""

    problems: list[Problem]
    links: list[str]

    def files(self) -> Iterator[Raw]:
        """The files, in their stored order."""


def kind_of(path: Path) -> Kind:
    """What a path is. Raises InputError when it is neither a package, a folder nor a native binary."""
    if path.is_dir():
        return "folder"
    suffix = package_suffix(path.name)
    if suffix:
        return PACKAGE_KINDS[suffix]
    try:
        with path.open("rb") as file:
            head = file.read(_PEEK)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error
    if head[:4] == b"PK\3\4":
        return "archive"
    if sniff(head) is None:
        raise InputError(
            "is neither a package nor a native binary",
            where=str(path),
            advice="Give wheels, nupkgs, sdists, zip archives, folders, or ELF, Mach-O or PE files.",
        )
    return "binary"


def package_suffix(name: str) -> str:
    """The suffix by which a file name tells a package, or ""."""
    return next((suffix for suffix in PACKAGE_KINDS if name.lower().endswith(suffix)), "")


def read_package(
    path: Path,
    kind: Kind,
    *,
    markers: Sequence[str],
    lost: Mapping[str, str],
    about_to_read: Callable[[str], None],
) -> Package:
    """Read a package whole.

    `about_to_read` is told the name of each file before it is parsed; files in `lost` are not parsed: their
    reader died before, as the value says.
    """
    package = Package(path=path, kind=kind, wheel=wheel_name(path.name) if kind == "wheel" else None)
    files: list[File] = []
    texts: dict[str, bytes] = {}
    try:
        source = _open(path, kind)
        for raw in source.files():
            about_to_read(raw.name)
            file, data = _read(raw, lost.get(raw.name, ""), markers, keep=_is_text(raw.name, kind))
            files.append(file)
            if data is not None:
                texts[raw.name] = data
    except InputError as error:
        return replace(package, files=tuple(files), texts=texts, damage=error.message)
    files.sort(key=lambda file: file.name)
    return replace(
        package, files=tuple(files), texts=texts, problems=tuple(source.problems), links=tuple(sorted(source.links))
    )


def wheel_name(file_name: str) -> WheelName | None:
    """What a wheel's file name says, or None when it breaks the rules for wheel names."""
    try:
        project, version, _, tags = parse_wheel_filename(file_name)
    except InvalidWheelFilename:
        return None
    return WheelName(
        project=project,
        version=str(version),
        pythons=tuple(sorted({tag.interpreter for tag in tags})),
        abis=tuple(sorted({tag.abi for tag in tags})),
        platforms=tuple(sorted({tag.platform for tag in tags})),
    )


def _is_text(name: str, kind: Kind) -> bool:
    if kind == "wheel":
        return posixpath.dirname(name).endswith(".dist-info")
    return kind == "nupkg" and (name.lower().endswith((".nuspec", ".rels", ".psmdcp")) or name == "[Content_Types].xml")


def _read(raw: Raw, died: str, markers: Sequence[str], *, keep: bool) -> tuple[File, bytes | None]:
    digest = hashlib.sha256()
    pieces: list[bytes] = []
    head, size, problem = b"", 0, ""
    kept = keep and raw.size <= _MAX_TEXT
    try:
        for block in raw.blocks():
            if not size:
                head = block[:_PEEK]
                kept = kept or (sniff(head) is not None and raw.size <= _MAX_BINARY)
            size += len(block)
            digest.update(block)
            if kept:
                pieces.append(block)
    except InputError as error:
        problem = error.message
    file = File(
        name=raw.name,
        size=size,
        mode=raw.mode,
        sha256=digest.hexdigest(),
        head=head[:_HEAD],
        format=sniff(head),
        is_managed=is_managed(head),
        problem=problem,
        died=died,
    )
    if not kept or problem:
        return file, None
    data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    pieces.clear()
    if file.is_native:
        file = _with_image(file, data, markers)
    return file, data if keep else None


def _with_image(file: File, data: bytes, markers: Sequence[str]) -> File:
    file = replace(
        file,
        markers=tuple(marker for marker in markers if marker.encode() in data),
        paths=build_paths(data, file.format),
    )
    if file.died:
        return file
    try:
        return replace(file, image=read_image(data, file.name))
    except InputError as error:
        return replace(file, problem=error.message)


def build_paths(data: bytes, format_: Format | None) -> tuple[str, ...]:
    """The first few absolute paths of a build machine in a binary: whole strings that name a file or folder."""
    found: dict[str, None] = {}
    pattern = _WINDOWS_FOLDERS if format_ == "pe" else _BUILD_FOLDERS
    for match in pattern.finditer(data):
        if (text := _path_at(data, match.start(), match.end())) is not None:
            found[text] = None
        if len(found) == _MAX_SHOWN_PATHS:
            break
    return tuple(found)


def _path_at(data: bytes, start: int, end: int) -> str | None:
    """The path whose folder stands there, when it names more than that, and not for use at run time."""
    is_windows = data[start : start + 1] == b":"
    start -= is_windows
    before = data[start - 1 : start] if start else b""
    if before.isalnum() or before in (b"/", b".", b"_", b"-", b"}", b"*"):
        return None  # the middle of a longer path or a web address
    if data.startswith(_RUN_TIME_PATHS, start):
        return None
    match = _REST_OF_PATH.match(data, end)
    rest = match[0].decode("ascii") if match else ""
    if "%" in rest or not ("/" in rest.strip("/") or "\\" in rest):
        return None  # a pattern, filled in at run time, or a lone name
    return data[start:end].decode("ascii", "replace") + rest


def _open(path: Path, kind: Kind) -> Source:
    if kind == "folder":
        return _Folder(path)
    if kind == "binary":
        return _Bare(path)
    if kind == "sdist":
        return _Tar(path)
    return _Zip(path)


class _Zip:
    """A wheel, a nupkg or another zip archive."""

    def __init__(self, path: Path) -> None:
        self._zip = ZipReader(path)
        self.problems = self._zip.problems
        self.links: list[str] = []

    def files(self) -> Iterator[Raw]:
        """The members that are files."""
        with self._zip:
            for member in self._zip.members:
                if not member.is_folder:
                    blocks = _bind(self._zip.blocks, member.name)
                    yield Raw(name=member.name, size=member.size, mode=member.mode, blocks=blocks)


def _bind(function: Callable[[str], Iterator[bytes]], name: str) -> Callable[[], Iterator[bytes]]:
    return lambda: function(name)


class _Bare:
    """One native binary that lies in no package."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[Problem] = []
        self.links: list[str] = []

    def files(self) -> Iterator[Raw]:
        """The binary itself, under the empty name."""
        status = self._path.stat()
        yield Raw(name="", size=status.st_size, mode=status.st_mode, blocks=lambda: _blocks(self._path))


class _Folder:
    """A folder with everything below it, packages excepted: they are audited as packages."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[Problem] = []
        self.links: list[str] = []

    def files(self) -> Iterator[Raw]:
        """The regular files; links are noted and not followed, pipes and devices never opened."""
        for folder, names, files in os.walk(self._path):
            names.sort()
            for name in [*names, *sorted(files)]:
                path = Path(folder, name)
                inner = path.relative_to(self._path).as_posix()
                if path.is_symlink():
                    self.links.append(inner)
                elif path.is_file() and not package_suffix(name):
                    status = path.stat()
                    yield Raw(name=inner, size=status.st_size, mode=status.st_mode, blocks=_bind_path(path))


def _bind_path(path: Path) -> Callable[[], Iterator[bytes]]:
    return lambda: _blocks(path)


def _blocks(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                yield block
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from error


class _Tar:
    """A compressed tar archive, read as a stream so that no index of it is ever trusted."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[Problem] = []
        self.links: list[str] = []

    def files(self) -> Iterator[Raw]:
        """The regular files with plain names; all else becomes a problem."""
        seen: set[str] = set()
        total = 0
        try:
            with tarfile.open(self._path, "r|*") as archive:
                for member in archive:
                    total += member.size
                    if total > _TAR_BOMB:
                        self._problem("bomb", member.name, f"over {_TAR_BOMB} bytes up to here; not read further")
                        return
                    if self._admits(member, seen):
                        yield self._raw(archive, member)
        except (tarfile.TarError, OSError, EOFError, ValueError) as error:
            raise InputError(f"not a readable tar archive: {error}", where=str(self._path)) from error

    def _admits(self, member: tarfile.TarInfo, seen: set[str]) -> bool:
        parts = member.name.split("/")
        if member.isdir():
            return False
        if member.name.startswith("/") or ".." in parts or "\\" in member.name or not member.name:
            self._problem("unsafe-name", member.name, f"the name {member.name!r} is not a plain relative path")
        elif not member.isreg():
            self._problem("link", member.name, "neither a file nor a folder")
        elif member.name in seen:
            self._problem("duplicate", member.name, "stored more than once")
        else:
            seen.add(member.name)
            return True
        return False

    def _raw(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> Raw:
        def blocks() -> Iterator[bytes]:
            try:
                file = archive.extractfile(member)
                while file is not None and (block := file.read(_BLOCK)):
                    yield block
            except (tarfile.TarError, OSError, EOFError) as error:
                raise InputError(f"damaged member: {error}", where=f"{self._path.name}!{member.name}") from error

        return Raw(name=member.name, size=member.size, mode=member.mode, blocks=blocks)

    def _problem(self, kind: str, member: str, detail: str) -> None:
        self.problems.append(Problem(kind=kind, member=member, detail=detail))  # type: ignore[arg-type]

"""Reads untrusted zip archives within limits, and replaces files as a whole."""

from __future__ import annotations

import hashlib
import os
import stat
import struct
import zipfile
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Literal, cast

from zlib_ng import zlib_ng

from loadcheck.errors import InputError
from loadcheck.model import Sha256
from loadcheck.text import human_size
from loadcheck.ziprecords import find_contradictions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

MAX_MEMBERS = 100_000
MAX_MEMBER_BYTES = 4 * 1024**3
MAX_TOTAL_BYTES = 16 * 1024**3
MAX_RATIO = 1_100
"""Deflate cannot exceed 1032:1, so a higher ratio in the directory is false."""
BOMB_BYTES = 256 * 1024**2
BOMB_RATIO = 150
"""Above BOMB_BYTES, an archive that expands by more than this factor is a bomb. Code and models stay below 20:1."""

_BLOCK = 1 << 18
"""Small enough to be hashed and copied while it is in the CPU cache."""
_LOCAL_HEADER, _MAGIC = struct.Struct("<4s22xHH"), b"PK\3\4"
"""APPNOTE.TXT, 4.3.7: its first bytes, and the lengths of the name and the extra field."""
_UTF_8, _UNREADABLE = 0x800, 0x60
"""APPNOTE.TXT, 4.4.4: how the name is encoded; patches and strong encryption."""
_READ_ERRORS = (
    zipfile.BadZipFile, cast("type[Exception]", zlib_ng.error), struct.error, EOFError, OSError, OverflowError,
    RuntimeError, ValueError,
)  # fmt: skip

ArchiveProblemKind = Literal[
    "unsafe-name", "duplicate", "case-collision", "link", "encrypted", "bomb", "damaged", "method", "prefix", "records",
    "streamed",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One file of an archive. `name` is as stored; `size` is what the directory claims."""

    name: str
    size: int
    mode: int
    is_folder: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveProblem:
    """Something in an archive that is hostile or damaged, or that some system cannot unpack."""

    kind: ArchiveProblemKind
    member: str
    detail: str


def too_many_members(path: Path, count: str) -> InputError:
    """The error for an archive with more members than loadcheck reads."""
    return InputError(
        f"has {count} members, but loadcheck reads at most {MAX_MEMBERS:,}",
        where=str(path),
        advice="The package was not audited. Split it, or pack its data files as one archive.",
    )


@dataclass(slots=True)
class _Tally:
    """What an archive has, together with the archives in it, for which the limits are the same ones."""

    members: int = 0
    total: int = 0
    compressed: int = 0


class ZipReader:
    """An archive open for reading. Nothing is unpacked to disk.

    `members` are the files and folders with safe and unique names; `problems` describe the rest. An archive in another
    one is read from a `copy` of its own, and named in errors by `path`. Raises InputError when the file is not a zip
    archive.
    """

    def __init__(self, path: Path, *, inside: ZipReader | None = None, copy: IO[bytes] | None = None) -> None:
        self.path = path
        self._is_inside = inside is not None
        self.tally: _Tally = inside.tally if inside is not None else _Tally()
        self._infos: dict[str, zipfile.ZipInfo] = {}
        self.problems: list[ArchiveProblem] = []
        with ExitStack() as stack:
            try:
                self._file = copy or stack.enter_context(path.open("rb"))
                self._zip = zipfile.ZipFile(self._file)
            except _READ_ERRORS as error:
                reason = (isinstance(error, OSError) and error.strerror) or error
                raise InputError(f"not a readable zip archive: {reason}", where=str(path)) from error
            infos = self._zip.infolist()
            self.tally.members += len(infos)
            if self.tally.members > MAX_MEMBERS:
                raise too_many_members(path, f"{self.tally.members:,}")
            starts = sorted({info.header_offset for info in infos})
            self._ends = dict(pairwise([*starts, self._zip.start_dir]))
            if starts and starts[0]:
                self._problem("prefix", "", f"{human_size(starts[0])} precede the archive's first member")
            for member, detail, is_streamed in find_contradictions(self._file, infos, self._zip.start_dir):
                self._problem("streamed" if is_streamed else "records", member, detail)
            self.members = tuple(self._admit(infos))
            stack.pop_all()

    def __enter__(self) -> Self:  # typing.Self is new in 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, name: str, limit: int = MAX_MEMBER_BYTES) -> bytes:
        """The bytes of a member, at most `limit`.

        Raises InputError: no such member, damaged, encrypted, or longer than the limit or its own directory entry.
        """
        return b"".join(self.blocks(name, limit))

    def blocks(self, name: str, limit: int = MAX_MEMBER_BYTES) -> Iterator[bytes]:
        """The bytes of a member, block by block, so that a large one is never in memory as a whole.

        Raises InputError as `read` does; the blocks before the error are then not to be trusted.
        """
        info = self._infos.get(name)
        where = f"{self.path.name}!{name}"
        if info is None:
            raise InputError("no such member", where=where)
        if info.file_size > limit:
            raise InputError(f"{human_size(info.file_size)} exceed the limit of {human_size(limit)}", where=where)
        try:
            yield from self._read_checked(info)
        except _READ_ERRORS as error:
            raise InputError(f"damaged member: {error}", where=where) from error

    def _read_checked(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The bytes of a member, checked against the size and the checksum that the directory states."""
        size, checksum = 0, 0
        for block in filter(None, self._inflate(info, self._find_data(info))):
            size += len(block)
            if size > info.file_size:
                raise zipfile.BadZipFile(f"is longer than the {info.file_size} bytes that the archive states")
            checksum = zlib_ng.crc32(block, checksum)
            yield block
        if checksum != info.CRC:
            raise zipfile.BadZipFile("Bad CRC-32")
        if size != info.file_size:
            raise zipfile.BadZipFile(f"has {size} bytes, but the archive states {info.file_size}")

    def _find_data(self, info: zipfile.ZipInfo) -> int:
        """Where the bytes of a member begin, after a header that fits the directory."""
        if info.flag_bits & _UNREADABLE:
            raise zipfile.BadZipFile("has strong encryption or is a patch")
        self._file.seek(info.header_offset)
        length: int
        extra: int
        magic, length, extra = _LOCAL_HEADER.unpack(self._file.read(_LOCAL_HEADER.size))
        name = self._file.read(length)
        if magic != _MAGIC or name.decode("utf-8" if info.flag_bits & _UTF_8 else "cp437") != info.orig_filename:
            raise zipfile.BadZipFile("its own header has another name, or is none")
        start = info.header_offset + _LOCAL_HEADER.size + length + extra
        if start + info.compress_size > self._ends[info.header_offset]:
            raise zipfile.BadZipFile("shares its bytes with another member")
        return start

    def _inflate(self, info: zipfile.ZipInfo, start: int) -> Iterator[bytes]:
        """The blocks of a member whose data begin at `start`, as long as it really is."""
        inflater = zlib_ng.decompressobj(-zlib_ng.MAX_WBITS)
        for offset in range(0, info.compress_size, _BLOCK):
            self._file.seek(start + offset)  # others may have read since the last block
            data = self._file.read(min(_BLOCK, info.compress_size - offset))
            if info.compress_type == zipfile.ZIP_STORED:
                yield data
                continue
            while data and not inflater.eof:
                yield inflater.decompress(data, _BLOCK)
                data = inflater.unconsumed_tail
        if not inflater.eof:
            yield inflater.flush()  # what the last block had no room for

    def _admit(self, infos: list[zipfile.ZipInfo]) -> Iterator[Member]:
        seen: dict[str, str] = {}
        tally = self.tally
        overlapping = _overlapping(infos)
        for info in infos:
            kind, detail = _objection(info)
            if kind is None and info.header_offset in overlapping:
                kind, detail = "bomb", "shares its bytes with another member"
            if kind is not None:
                self._problem(kind, info.filename, detail)
                continue
            tally.total += info.file_size
            tally.compressed += 0 if self._is_inside else info.compress_size
            is_bomb = tally.total > BOMB_BYTES and tally.total > BOMB_RATIO * max(tally.compressed, 1)
            if is_bomb or tally.total > MAX_TOTAL_BYTES:
                text = f"{human_size(tally.compressed)} expand to {human_size(tally.total)}; the rest was not read"
                self._problem("bomb", info.filename, text)
                return
            if info.filename in self._infos:
                self._problem("duplicate", info.filename, "stored more than once")
                continue
            folded = info.filename.rstrip("/").casefold()
            if seen.setdefault(folded, info.filename) != info.filename:
                self._problem("case-collision", info.filename, f"differs from {seen[folded]} only by case")
            self._infos[info.filename] = info
            mode = (info.external_attr >> 16) & 0xFFFF
            yield Member(name=info.filename, size=info.file_size, mode=mode, is_folder=info.is_dir())

    def _problem(self, kind: ArchiveProblemKind, member: str, detail: str) -> None:
        self.problems.append(ArchiveProblem(kind=kind, member=member, detail=detail))


def _overlapping(infos: list[zipfile.ZipInfo]) -> set[int]:
    """The offsets of members whose bytes overlap the next member: the trick of non-recursive zip bombs."""
    ordered = sorted(infos, key=lambda info: info.header_offset)
    return {
        info.header_offset
        for info, following in pairwise(ordered)
        if info.header_offset + _LOCAL_HEADER.size + len(info.orig_filename) + info.compress_size
        > following.header_offset
    }


def _objection(info: zipfile.ZipInfo) -> tuple[ArchiveProblemKind | None, str]:
    """Why a member must not be read, or (None, "")."""
    raw = info.orig_filename
    if not _is_plain(raw):
        return "unsafe-name", f"the name {raw!r} is not a plain relative path"
    if stat.S_ISLNK(info.external_attr >> 16) and info.file_size:  # one without a target is unpacked as an empty file
        return "link", "a symbolic link"
    if info.flag_bits & 0x1:
        return "encrypted", "encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "method", f"some installers do not support compression method {info.compress_type}"
    if info.file_size > MAX_MEMBER_BYTES or info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return "bomb", f"{human_size(info.compress_size)} claim to expand to {human_size(info.file_size)}"
    return None, ""


def _is_plain(name: str) -> bool:
    """Whether a member's name is relative, normal, and means the same on every system."""
    path = PurePosixPath(name.rstrip("/"))
    if "\0" in name or "\\" in name or not path.parts or path.is_absolute() or ":" in path.parts[0]:
        return False
    return ".." not in path.parts and not {".", ""} & set(name.rstrip("/").split("/"))


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to. It becomes `path` when the block succeeds, and is removed when it fails.

    An OSError about it names `path`, which the user knows.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        aside.touch(exist_ok=False)  # where others may write, a link could wait under a name that can be guessed
        yield aside
        aside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(aside):
            error.filename = str(path)
        raise


def write_text(path: Path, text: str) -> None:
    """Write text with LF line ends, to a temporary file that is renamed."""
    with replacing(path) as aside:
        aside.write_bytes(text.encode("utf-8"))


def sha256(path: Path) -> Sha256:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return Sha256(digest.hexdigest())

"""Lists the native files of an archive inside a package by their names, within limits."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import struct
import tarfile
import zipfile
import zlib
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_ZIP = b"PK\3\4"
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
_PACKED: Mapping[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\0": lzma.LZMAFile,
}
_PACKED_TAR = re.compile(r"\.(tar\.\w+|tgz|tbz2?|txz)$", re.IGNORECASE)
_NATIVE_NAME = re.compile(r"\.(so(\.[\d.]+)?|dylib|dll|pyd)$", re.IGNORECASE)
_MOST_INFLATED = 128 * 1024**2


def is_archive(name: str, head: bytes) -> bool:
    """Whether a file is a zip or a tar, by its first bytes and, if it is a compressed tar, by its name."""
    if head.startswith(_ZIP) or head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + len(_TAR_MAGIC)] == _TAR_MAGIC:
        return True
    return head.startswith(tuple(_PACKED)) and _PACKED_TAR.search(name) is not None


def native_members(data: bytes) -> tuple[str, ...]:
    """The native files in an archive. A zip is not inflated; a tar is, up to its first 128 MiB.

    For a damaged archive, the files that can be listed.
    """
    members: list[str] = []
    try:
        for name in _zip_names(data) if data.startswith(_ZIP) else _tar_names(data):
            if _NATIVE_NAME.search(name):
                members.append(name)  # noqa: PERF401  # those before the damage are kept
    # zipfile and tarfile pass on the exceptions that they raise while they read damaged headers.
    except (zipfile.BadZipFile, tarfile.TarError, ValueError, TypeError, OSError, EOFError, RuntimeError):
        pass
    except (struct.error, zlib.error, lzma.LZMAError):
        pass
    return tuple(members)


def _zip_names(data: bytes) -> Iterator[str]:
    yield from zipfile.ZipFile(io.BytesIO(data)).namelist()


def _tar_names(data: bytes) -> Iterator[str]:
    opened: IO[bytes] = io.BytesIO(data)
    for magic, inflate in _PACKED.items():
        if data.startswith(magic):
            opened = inflate(opened)
    with tarfile.open(fileobj=_Limited(opened), mode="r|") as archive:
        for member in archive:
            if member.isreg():
                yield member.name


class _Limited(io.RawIOBase):
    """A stream that ends with an error after the limit, whatever sizes the headers state."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._left = _MOST_INFLATED

    def read(self, size: int = -1) -> bytes:
        """The next bytes. Raises OSError over the limit."""
        if size < 0 or size > self._left:
            raise OSError("over the limit")
        self._left -= size
        return self._file.read(size)

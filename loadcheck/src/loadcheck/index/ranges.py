"""Opens a wheel on a server as a file, of which only the parts that are read are downloaded."""

from __future__ import annotations

import hashlib
import io
import tempfile
from typing import IO, TYPE_CHECKING

from loadcheck.index.download import DownloadError, plain_url, read_local
from loadcheck.text import human_size

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from loadcheck.index.download import Downloader

_TAIL = 1 << 16
"""The end of a wheel with its directory: as much as most directories take."""
_PART = 1 << 16
MAX_WHOLE = 256 * 1024**2
"""The largest wheel that is downloaded whole, from a server without ranges."""
_MAX_PARTS = 128 * 1024**2


class _WholeError(Exception):
    """The server gave the whole file, which is the argument."""


class RemoteFile(io.RawIOBase):
    """A file on a server that gives ranges."""

    def __init__(self, downloader: Downloader, url: str) -> None:
        """Raises DownloadError, and _WholeError if the server gives no ranges."""
        self._downloader, self._url = downloader, url
        answer = downloader.get(url, _TAIL + MAX_WHOLE, {"Range": f"bytes=-{_TAIL}"})
        if not answer.is_partial:
            raise _WholeError(answer.data)
        self._size, self._place = answer.whole, 0
        self._parts = {answer.start: answer.data}
        self._spent = len(answer.data)
        self._url = answer.url

    def seekable(self) -> bool:
        """Always."""
        return True

    def readable(self) -> bool:
        """Always."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a place."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        self._place = max(base + offset, 0)
        return self._place

    def readinto(self, buffer: Buffer) -> int:
        """Read into a buffer."""
        view = memoryview(buffer)
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        """Read, and download what is not there yet. Raises DownloadError."""
        end = self._size if size < 0 else min(self._place + size, self._size)
        if end <= self._place:
            return b""
        data = self._find(self._place, end)
        if data is None:
            data = self._fetch(self._place, end)
        self._place += len(data)
        return data

    def _find(self, start: int, end: int) -> bytes | None:
        for first, data in self._parts.items():
            if first <= start and end <= first + len(data):
                return data[start - first : end - first]
        return None

    def _fetch(self, start: int, end: int) -> bytes:
        """Download a range, and some more, since the next read is often behind it."""
        last = min(max(end, start + _PART), self._size)
        self._spent += last - start
        where = plain_url(self._url)
        if self._spent > _MAX_PARTS:
            raise DownloadError(f"the parts exceed the limit of {human_size(_MAX_PARTS)}", where=where)
        answer = self._downloader.get(self._url, last - start, {"Range": f"bytes={start}-{last - 1}"})
        if (answer.is_partial, answer.start, answer.whole, len(answer.data)) != (True, start, self._size, last - start):
            raise DownloadError("the part is not the one that was asked for", where=where)
        self._parts[start] = answer.data
        return answer.data[: end - start]


def open_wheel(downloader: Downloader, url: str, sha256: str) -> IO[bytes]:
    """A wheel in an index: its parts as they are read, or the whole if the server gives no ranges.

    Raises DownloadError, also for a whole wheel that does not have the SHA-256 that the index states, if it states one.
    """
    if url.startswith("file:"):
        return io.BytesIO(read_local(url, MAX_WHOLE))
    try:
        return io.BufferedReader(RemoteFile(downloader, url), 1 << 12)
    except _WholeError as refusal:
        if sha256 and hashlib.sha256(refusal.args[0]).hexdigest() != sha256:
            raise DownloadError("has another hash than the index states", where=plain_url(url)) from None
        whole = tempfile.TemporaryFile()  # noqa: SIM115  # the caller closes it
        whole.write(refusal.args[0])
        whole.seek(0)
        return whole

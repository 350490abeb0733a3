"""Downloads from an index within limits: of size, time, redirects and schemes. Nothing it gets is trusted."""

from __future__ import annotations

import base64
import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import unquote, urlsplit, urlunsplit

from loadcheck.errors import InputError
from loadcheck.text import human_size

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WAIT = 20.0
"""Seconds without an answer."""
_LONGEST = 120.0
"""Seconds for one answer, so that one that trickles ends, too."""
_BLOCK = 1 << 16
_MOST_REDIRECTS = 5
_OK, _PARTIAL, _UNCHANGED, _NOT_FOUND = 200, 206, 304, 404
_RANGE = re.compile(r"bytes (\d{1,15})-(\d{1,15})/(\d{1,15})")


class DownloadError(InputError):
    """Something that an index did not give, or gave in a form that cannot be accepted."""

    is_absent = False
    """Whether the server says that there is no such page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server answered. `start` and `whole` say which part of how many bytes a partial answer has."""

    data: bytes
    url: str
    kind: str = ""
    etag: str = ""
    is_unchanged: bool = False
    is_partial: bool = False
    start: int = 0
    whole: int = 0


def plain_url(url: str) -> str:
    """An address without credentials, query and fragment: what messages may name."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def is_safe_step(url: str, target: str) -> bool:
    """Whether a page or a redirect may lead to an address: not from https to http, and to a file only from a file."""
    schemes = ("https", "http", "file")
    start, end = urlsplit(url).scheme, urlsplit(target).scheme
    return start in schemes and end in schemes[: schemes.index(start) + 1]


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to https, and from http to http; never with the credentials of another host."""

    max_redirections = _MOST_REDIRECTS

    def redirect_request(  # noqa: PLR0913  # as urllib calls it
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if not is_safe_step(req.full_url, newurl):
            fp.close()
            raise DownloadError("the redirect is refused", where=plain_url(req.full_url))
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Downloader:
    """Asks the servers of the configured indexes. Safe for several threads."""

    def __init__(self, *, wait: float = _WAIT, longest: float = _LONGEST) -> None:
        self._wait, self._longest = wait, longest
        handlers = [_Redirects(), urllib.request.HTTPSHandler(context=ssl.create_default_context())]
        self._opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(),
            urllib.request.HTTPHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
            *handlers,
        ):
            self._opener.add_handler(handler)

    def get(self, url: str, limit: int, headers: Mapping[str, str] | None = None) -> Answer:
        """The answer of a server, with at most `limit` bytes after decompression.

        Raises DownloadError, which names the address without credentials.
        """
        where, end = plain_url(url), time.monotonic() + self._longest
        try:
            with self._opener.open(_make_request(url, headers or {}), timeout=self._wait) as response:
                return _read_answer(response, url, limit, end)
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == _UNCHANGED:
                return Answer(data=b"", url=url, is_unchanged=True)
            is_redirect = error.code // 100 == 3  # noqa: PLR2004
            text = "the redirect is refused" if is_redirect else f"the server answered {error.code}"
            problem = DownloadError(text, where=where)
            problem.is_absent = error.code == _NOT_FOUND
            raise problem from None
        except (OSError, http.client.HTTPException, ValueError, zlib.error) as error:
            reason = getattr(error, "reason", None) or error
            # An exception may quote the address that it was given.
            text = type(error).__name__ if "://" in str(reason) else str(reason)
            raise DownloadError(f"no answer that can be read: {text}", where=where) from None


def _make_request(url: str, headers: Mapping[str, str]) -> urllib.request.Request:
    """A request whose credentials, in its address or a header Authorization, do not follow redirects."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https"):
        raise DownloadError(f"has the scheme {parts.scheme or 'of no URL'}, not https", where=plain_url(url))
    credentials, _, host = parts.netloc.rpartition("@")
    bare = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    others = {name: value for name, value in headers.items() if name != "Authorization"}
    request = urllib.request.Request(bare, headers={"User-Agent": "loadcheck", **others})  # noqa: S310  # see above
    given = headers.get("Authorization", "")
    if credentials and not given:
        given = f"Basic {base64.b64encode(unquote(credentials).encode()).decode()}"
    if given:
        request.add_unredirected_header("Authorization", given)
    return request


def _read_answer(response: http.client.HTTPResponse, url: str, limit: int, end: float) -> Answer:
    """Read an answer to its end, and compare it with what its headers say."""
    where, headers = plain_url(url), response.headers
    is_partial = response.status == _PARTIAL
    if response.status not in (_OK, _PARTIAL):
        raise DownloadError(f"the server answered {response.status}", where=where)
    stated = headers.get("Content-Length", "")
    if stated.isdigit() and int(stated) > limit:
        raise DownloadError(f"{human_size(int(stated))} exceed the limit of {human_size(limit)}", where=where)
    packed = headers.get("Content-Encoding", "").lower()
    if packed not in ("", "identity", "gzip"):
        raise DownloadError(f"the encoding {packed[:20]!r} was not asked for", where=where)
    data = b"".join(_list_blocks(response, limit, end, where, is_packed=packed == "gzip"))
    start = whole = 0
    if is_partial:
        match = _RANGE.fullmatch(headers.get("Content-Range", ""))
        if match is None or packed or int(match[2]) - int(match[1]) + 1 != len(data) or int(match[3]) <= int(match[2]):
            raise DownloadError("the part is not the one that the server says it is", where=where)
        start, whole = int(match[1]), int(match[3])
    return Answer(
        data=data,
        url=response.url or url,
        kind=headers.get_content_type(),
        etag=headers.get("ETag", "")[:200],
        is_partial=is_partial,
        start=start,
        whole=whole,
    )


def _list_blocks(
    response: http.client.HTTPResponse, limit: int, end: float, where: str, *, is_packed: bool
) -> Iterator[bytes]:
    unpack = zlib.decompressobj(16 + zlib.MAX_WBITS) if is_packed else None
    size = 0
    while block := response.read1(_BLOCK):
        data = unpack.decompress(block, limit - size + 1) if unpack else block
        size += len(data)
        if size > limit:
            raise DownloadError(f"the answer exceeds the limit of {human_size(limit)}", where=where)
        if time.monotonic() > end:
            raise DownloadError("the answer takes too long", where=where)
        yield data
    if response.length:
        raise DownloadError(f"the answer ends {human_size(response.length)} before its length", where=where)


def read_local(url: str, limit: int) -> bytes:
    """A file of an index that is a folder: a `file:` address of the user's configuration. Raises DownloadError."""
    path = Path(urllib.request.url2pathname(urlsplit(url).path))
    try:
        path = path / "index.html" if path.is_dir() else path
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise DownloadError(f"cannot be read: {error.strerror}", where=plain_url(url)) from error
    if len(data) > limit:
        raise DownloadError(f"the file exceeds the limit of {human_size(limit)}", where=plain_url(url))
    return data

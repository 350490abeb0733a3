"""Asks the configured indexes, or the cache, for the files of a project and what is in a wheel."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import msgspec

from loadcheck.archive import MAX_MEMBERS
from loadcheck.binary import read_images
from loadcheck.errors import InputError
from loadcheck.index.cache import Cache
from loadcheck.index.download import Downloader, DownloadError, plain_url, read_local
from loadcheck.index.pages import ACCEPT, IndexFile, list_beside, read_page
from loadcheck.index.ranges import open_wheel
from loadcheck.text import human_size

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from loadcheck.index.settings import IndexSettings

_MAX_PAGE = 64 * 1024**2
_MAX_METADATA = 4 * 1024**2
_MAX_LIBRARY = 64 * 1024**2
_T = TypeVar("_T")
_ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, OSError, OverflowError, RuntimeError, ValueError, KeyError)


class _Page(msgspec.Struct, frozen=True):
    files: tuple[IndexFile, ...]
    etag: str = ""


class WheelFacts(msgspec.Struct, frozen=True):
    """What a wheel in an index has."""

    names: tuple[str, ...] = ()
    """The paths of its files."""
    metadata: bytes = b""
    """Its METADATA, if the index does not have it next to the wheel."""


class LibraryFacts(msgspec.Struct, frozen=True):
    """What a library in a wheel exports."""

    exports: frozenset[str] = frozenset()
    needed: tuple[str, ...] = ()
    size: int = 0
    """The size of one that is too large to be read."""


class Index:
    """The configured indexes, with the cache. Safe for several threads."""

    def __init__(
        self, settings: IndexSettings, downloader: Downloader | None = None, beside: Sequence[Path] = ()
    ) -> None:
        """`beside` are local wheels that will be in the index together with what is asked about."""
        self._settings, self._beside = settings, beside
        self._downloader = downloader or Downloader()
        self._cache = Cache(settings.cache)

    def list_files(self, project: str) -> tuple[IndexFile, ...]:
        """The files of a project in all indexes, each name once. Raises InputError if no index can be asked."""
        files = {file.name: file for file in list_beside(self._beside, project)}
        problems: list[InputError] = []
        for url in self._settings.urls:
            try:
                for file in self._list_of(f"{url}/{project}/"):
                    files.setdefault(file.name, file)
            except InputError as error:
                problems.append(error)
        if problems and not files:
            raise problems[0]
        return tuple(files.values())

    def _list_of(self, url: str) -> tuple[IndexFile, ...]:
        if url.startswith("file:"):
            with suppress(DownloadError):
                return read_page(read_local(url, _MAX_PAGE), "text/html", url)
            return ()
        kept = self._cache.load("pages", url, _Page)
        if kept and (kept[1] or self._settings.is_offline):
            return kept[0].files
        self._refuse_offline(url)
        try:
            return self._ask(url, kept[0] if kept else None).files
        except DownloadError as error:
            if kept or error.is_absent:
                return kept[0].files if kept else ()
            raise

    def _ask(self, url: str, kept: _Page | None) -> _Page:
        """The page of a project, which the index sends if it is another than the one that was kept."""
        headers = {"Accept": ACCEPT, "Accept-Encoding": "gzip"}
        if kept and kept.etag:
            headers["If-None-Match"] = kept.etag
        answer = self._downloader.get(url, _MAX_PAGE, headers)
        if kept and answer.is_unchanged:
            self._cache.renew("pages", url)
            return kept
        page = _Page(read_page(answer.data, answer.kind, answer.url), answer.etag)
        self._cache.save("pages", url, page)
        return page

    def read_metadata(self, file: IndexFile) -> bytes:
        """METADATA of a wheel: the file next to it, where the index has one. Raises InputError."""
        if not file.has_metadata:
            return self.read_wheel(file).metadata
        return self._keep("metadata", file, "", bytes, partial(self._get_metadata, file))

    def _get_metadata(self, file: IndexFile) -> bytes:
        address = f"{file.url}.metadata"
        data = read_local(address, _MAX_METADATA) if address.startswith("file:") else self._download(address)
        if file.metadata_sha256 and hashlib.sha256(data).hexdigest() != file.metadata_sha256:
            raise DownloadError("has another hash than the index states", where=plain_url(address))
        return data

    def _download(self, url: str) -> bytes:
        return self._downloader.get(url, _MAX_METADATA, {"Accept-Encoding": "gzip"}).data

    def read_wheel(self, file: IndexFile) -> WheelFacts:
        """The file names and METADATA of a wheel, from the end of the archive. Raises InputError."""
        return self._keep(
            "wheels", file, "", WheelFacts, partial(self._open, file, partial(_list, has_own=not file.has_metadata))
        )

    def read_library(self, file: IndexFile, name: str) -> LibraryFacts:
        """What a library in a wheel exports. Raises InputError, also if the library is too large to be read."""
        read = partial(self._open, file, partial(_read_library, name=name))
        facts = self._keep("libraries", file, name, LibraryFacts, read)
        if facts.size:
            raise _too_large(name, _MAX_LIBRARY)
        return facts

    def _open(self, file: IndexFile, read: Callable[[zipfile.ZipFile], _T]) -> _T:
        try:
            with open_wheel(self._downloader, file.url, file.sha256) as stream, zipfile.ZipFile(stream) as archive:
                return read(archive)
        except _ZIP_ERRORS as error:
            text = f"not a readable wheel: {type(error).__name__}"
            raise DownloadError(text, where=plain_url(file.url)) from error

    def _keep(self, kind: str, file: IndexFile, name: str, type_: type[_T], make: Callable[[], _T]) -> _T:
        """A fact of a file, which never changes: from the cache, or made and kept."""
        key = f"{file.sha256 or file.url}!{name}"
        if kept := self._cache.load(kind, key, type_):
            return kept[0]
        self._refuse_offline(file.url)
        value = make()
        self._cache.save(kind, key, value)
        return value

    def _refuse_offline(self, url: str) -> None:
        if self._settings.is_offline and not url.startswith("file:"):
            raise DownloadError("is not in the cache, and installers are set to be offline", where=plain_url(url))


def _list(archive: zipfile.ZipFile, *, has_own: bool) -> WheelFacts:
    infos = archive.infolist()[:MAX_MEMBERS]
    inner = next((info.filename for info in infos if _is_metadata(info.filename)), "")
    return WheelFacts(
        names=tuple(info.filename for info in infos if not info.is_dir()),
        metadata=_read_member(archive, inner, _MAX_METADATA) if inner and has_own else b"",
    )


def _is_metadata(name: str) -> bool:
    return name.count("/") == 1 and name.endswith(".dist-info/METADATA")


def _read_library(archive: zipfile.ZipFile, name: str) -> LibraryFacts:
    if (size := archive.getinfo(name).file_size) > _MAX_LIBRARY:
        return LibraryFacts(size=size)
    images = read_images(_read_member(archive, name, _MAX_LIBRARY), name)
    return LibraryFacts(
        frozenset(export.name for image in images for export in image.exports),
        tuple(dict.fromkeys(needed for image in images for needed in image.needed)),
    )


def _too_large(name: str, limit: int) -> InputError:
    return InputError(f"exceeds the limit of {human_size(limit)}", where=name)


def _read_member(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    if archive.getinfo(name).file_size > limit:
        raise _too_large(name, limit)
    with archive.open(name) as stream:
        return stream.read(limit)

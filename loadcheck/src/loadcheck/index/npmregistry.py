"""Asks npm's registries, or the cache, for the versions of a package and what is in a tarball."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import tempfile
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urljoin

import msgspec

from loadcheck.errors import InputError
from loadcheck.formats import find_format, iter_members
from loadcheck.index.cache import Cache
from loadcheck.index.download import Downloader, DownloadError, is_safe_step, plain_url
from loadcheck.index.ranges import MAX_WHOLE
from loadcheck.readers.package_json import MANIFEST, Manifest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadcheck.index.npmrc import NpmSettings

_MAX_PAGE = 64 * 1024**2
_ACCEPT = "application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8"
_KEPT = (
    *("name", "version", "os", "cpu", "libc", "dependencies", "optionalDependencies", "peerDependencies", "scripts"),
    "deprecated",
)
"""The fields of package.json that decide what is installed."""
_HASHES = ("sha512", "sha384", "sha256", "sha1")


class NpmRelease(msgspec.Struct, frozen=True):
    """A version of a package in a registry."""

    fields: dict[str, Any] = {}
    url: str = ""
    """Its tarball; "" where its address is not valid, or leads to a scheme that is not safer."""
    integrity: str = ""

    @property
    def manifest(self) -> Manifest:
        """Its package.json, as far as the registry has it."""
        return Manifest(inner="", fields=self.fields)


class NpmProject(msgspec.Struct, frozen=True):
    """A package in a registry."""

    tags: dict[str, str] = {}
    releases: dict[str, NpmRelease] = {}
    """By version."""


class TarballFacts(msgspec.Struct, frozen=True):
    """What a tarball has."""

    fields: dict[str, Any] = {}
    """Of its package.json."""
    names: tuple[str, ...] = ()
    """The paths of its files, as npm installs them."""


class _Packument(msgspec.Struct):
    versions: dict[str, dict[str, Any]] = {}
    tags: dict[str, str] = msgspec.field(default_factory=dict, name="dist-tags")


_JSON = msgspec.json.Decoder(_Packument)


class NpmRegistry:
    """The configured registries, with the cache. Safe for several threads."""

    def __init__(
        self, settings: NpmSettings, downloader: Downloader | None = None, beside: Sequence[Path] = ()
    ) -> None:
        """`beside` are local packages that will be in the registry together with what is asked about."""
        self._settings, self._paths = settings, beside
        self._downloader = downloader or Downloader()
        self._cache = Cache(settings.cache)

    @cached_property
    def _beside(self) -> Mapping[str, NpmProject]:
        found: dict[str, NpmProject] = {}
        for path in self._paths:
            with suppress(InputError):
                release = NpmRelease(_read_tarball(path).fields, path.resolve().as_uri())
                name, version = release.manifest.text("name"), release.manifest.text("version")
                found[name] = NpmProject(releases={**found.get(name, NpmProject()).releases, version: release})
        return found

    def find_project(self, name: str) -> NpmProject:
        """A package, with the local ones of its name. Raises InputError if no registry can be asked."""
        own = self._beside.get(name, NpmProject())
        try:
            asked = self._find_asked(name)
        except InputError:
            if not own.releases:
                raise
            return own
        return NpmProject(asked.tags, {**asked.releases, **own.releases})

    def _find_asked(self, name: str) -> NpmProject:
        registry = self._settings.find_registry(name)
        if not registry:
            raise InputError("no npm registry is configured, and no npm is installed here")
        url = f"{registry}/{quote(name, safe='@/').replace('/', '%2f')}"
        kept = self._cache.load("npm", url, NpmProject)
        if kept and (kept[1] or self._settings.is_offline):
            return kept[0]
        self._refuse_offline(url)
        try:
            answer = self._get(url, _MAX_PAGE, {"Accept": _ACCEPT, "Accept-Encoding": "gzip"})
        except DownloadError:
            if kept:
                return kept[0]
            raise
        project = _read_project(answer, url)
        self._cache.save("npm", url, project)
        return project

    def read_tarball(self, release: NpmRelease) -> TarballFacts:
        """The files and package.json of a version. Raises InputError."""
        path = next((path for path in self._paths if path.resolve().as_uri() == release.url), None)
        if path is not None:
            return _read_tarball(path)
        key = release.integrity or release.url
        if kept := self._cache.load("tarballs", key, TarballFacts):
            return kept[0]
        self._refuse_offline(release.url)
        data = self._get(release.url, MAX_WHOLE, {})
        _compare_hash(data, release)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "package.tgz")
            path.write_bytes(data)
            facts = _read_tarball(path)
        self._cache.save("tarballs", key, facts)
        return facts

    def _get(self, url: str, limit: int, headers: Mapping[str, str]) -> bytes:
        credentials = self._settings.find_credentials(url)
        own = {"Authorization": credentials} if credentials else {}
        return self._downloader.get(url, limit, {**headers, **own}).data

    def _refuse_offline(self, url: str) -> None:
        if self._settings.is_offline:
            raise DownloadError("is not in the cache, and npm is set to be offline", where=plain_url(url))


def _read_project(data: bytes, url: str) -> NpmProject:
    try:
        packument = _JSON.decode(data)
    except (msgspec.DecodeError, RecursionError) as error:
        raise DownloadError(f"the answer is not JSON of an npm registry: {error}", where=plain_url(url)) from error
    return NpmProject(packument.tags, {key: _read_release(row, url) for key, row in packument.versions.items()})


def _read_release(row: Mapping[str, Any], url: str) -> NpmRelease:
    places = row.get("dist")
    texts = {key: value for key, value in places.items() if isinstance(value, str)} if isinstance(places, dict) else {}
    address = ""
    with suppress(ValueError):
        address = urljoin(url, texts.get("tarball", ""))
        address = address if texts.get("tarball") and is_safe_step(url, address) else ""
    return NpmRelease(_choose_fields(row), address, texts.get("integrity", ""))


def _choose_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: row[key] for key in _KEPT if key in row}


def _compare_hash(data: bytes, release: NpmRelease) -> None:
    """Raises DownloadError if a tarball has another hash than the strongest that the registry states."""
    stated = dict(text.partition("?")[0].partition("-")[::2] for text in release.integrity.split())
    name = next((name for name in _HASHES if name in stated), "")
    if name:
        expected = b""
        with suppress(binascii.Error):
            expected = base64.b64decode(stated[name])
        if hashlib.new(name, data, usedforsecurity=False).digest() != expected:
            raise DownloadError("has another hash than the registry states", where=plain_url(release.url))


def _read_tarball(path: Path) -> TarballFacts:
    """Raises InputError for a file that is no package of npm."""
    form = find_format(path.name)
    names: list[str] = []
    fields: object = None
    for name, read in iter_members(path, form) if form else ():
        inner = name.partition("/")[2]
        names.append(inner)
        if inner == MANIFEST:
            with suppress(ValueError, RecursionError):
                fields = json.loads(read().decode("utf-8-sig"))
    if not isinstance(fields, dict):
        raise InputError("has no package.json that can be read")
    return TarballFacts(_choose_fields(fields), tuple(names))

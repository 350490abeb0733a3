"""Reads the page of a project in an index: its files, from JSON (PEP 691) or HTML (PEP 503)."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

import msgspec
from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from loadcheck.archive import sha256
from loadcheck.errors import InputError
from loadcheck.index.download import is_safe_step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

ACCEPT = "application/vnd.pypi.simple.v1+json, text/html;q=0.5, application/vnd.pypi.simple.v1+html;q=0.6"
_MOST_FILES = 100_000
_HASH = re.compile(r"sha256=([0-9a-f]{64})")


class IndexFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One file of a project."""

    name: str
    url: str
    version: str
    sha256: str = ""
    requires_python: str = ""
    has_metadata: bool = False
    """Whether its METADATA is next to it (PEP 658)."""
    metadata_sha256: str = ""
    is_yanked: bool = False

    @property
    def is_wheel(self) -> bool:
        """Whether it is a wheel; else it is an sdist."""
        return self.name.endswith(".whl")


class _JsonFile(msgspec.Struct, rename="kebab"):
    filename: str
    url: str
    hashes: dict[str, str] = {}
    requires_python: str | None = None
    core_metadata: bool | dict[str, str] = False
    dist_info_metadata: bool | dict[str, str] = False
    yanked: bool | str = False


class _JsonPage(msgspec.Struct):
    files: list[_JsonFile]


_JSON = msgspec.json.Decoder(_JsonPage)


def read_page(data: bytes, kind: str, url: str) -> tuple[IndexFile, ...]:
    """The wheels and sdists of a page. Raises InputError, which names no address, if it cannot be read."""
    files = _read_json(data) if kind.endswith("json") else _read_html(data)
    found: list[IndexFile] = []
    for file in files[:_MOST_FILES]:
        version = _find_version(file.filename)
        address = _join(url, file.url)
        if version:
            stated = file.core_metadata or file.dist_info_metadata
            found.append(
                IndexFile(
                    name=file.filename,
                    url=address.partition("#")[0],
                    version=version,
                    sha256=file.hashes.get("sha256", "").lower(),
                    requires_python=file.requires_python or "",
                    has_metadata=bool(stated),
                    metadata_sha256=stated.get("sha256", "") if isinstance(stated, dict) else "",
                    is_yanked=file.yanked is not False,
                )
            )
    return tuple(found)


def list_beside(paths: Iterable[Path], project: str) -> Iterator[IndexFile]:
    """The files of a project among local ones, as an index would list them."""
    for path in paths:
        version = _find_version(path.name)
        if version and canonicalize_name(path.name.partition("-")[0]) == project:
            yield IndexFile(name=path.name, url=path.resolve().as_uri(), version=version, sha256=sha256(path))


def _join(url: str, target: str) -> str:
    """The address of a link on a page; "" for one that is not valid, or that leads to a scheme that is not safer."""
    try:
        address = urljoin(url, target)
        return address if is_safe_step(url, address) else ""
    except ValueError:
        return ""


def _read_json(data: bytes) -> list[_JsonFile]:
    try:
        return _JSON.decode(data).files
    except (msgspec.DecodeError, RecursionError) as error:
        raise InputError(f"the page of the project is not JSON of the simple API: {error}") from error


def _read_html(data: bytes) -> list[_JsonFile]:
    parser = _Links()
    parser.feed(data.decode("utf-8", "replace"))
    return parser.files


class _Links(HTMLParser):
    """The links of a page, with the attributes of PEP 503, 592 and 658."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.files: list[_JsonFile] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        fields = dict(attrs)
        target = fields.get("href") if tag == "a" else None
        try:
            parts = urlsplit(target or "")
        except ValueError:
            return
        if not target:
            return
        stated = fields.get("data-core-metadata", fields.get("data-dist-info-metadata"))
        own, of_metadata = _HASH.search(parts.fragment), _HASH.search(stated or "")
        self.files.append(
            _JsonFile(
                filename=unquote(parts.path.rpartition("/")[2]),
                url=target,
                hashes={"sha256": own[1]} if own else {},
                requires_python=fields.get("data-requires-python"),
                core_metadata={"sha256": of_metadata[1]} if of_metadata else bool(stated),
                yanked="data-yanked" in fields,
            )
        )


def _find_version(name: str) -> str:
    """The version of a wheel or an sdist; "" for other files and names."""
    try:
        if name.endswith(".whl"):
            return str(parse_wheel_filename(name)[1])
        return str(parse_sdist_filename(name)[1])
    except (InvalidWheelFilename, InvalidSdistFilename, ValueError):
        return ""

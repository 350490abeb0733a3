"""Keeps what was read from an index in the user's cache folder, by hash."""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import msgspec

from loadcheck.archive import replacing

if TYPE_CHECKING:
    from pathlib import Path

_VERSION = "v1"
FRESH = 600.0
"""Seconds for which a project's page is not asked for again: as long as pip and uv keep one."""
_T = TypeVar("_T")


class Cache:
    """Files in a folder, each of one value. One that cannot be read or written counts as missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / _VERSION

    def load(self, kind: str, key: str, type_: type[_T]) -> tuple[_T, bool] | None:
        """The value for a key, and whether it is fresh; None if there is none."""
        path = self._path(kind, key)
        with suppress(OSError, msgspec.DecodeError, RecursionError):
            age = time.time() - path.stat().st_mtime
            return msgspec.msgpack.decode(path.read_bytes(), type=type_), 0 <= age < FRESH
        return None

    def save(self, kind: str, key: str, value: object) -> None:
        """Keep a value."""
        with suppress(OSError), replacing(self._path(kind, key)) as aside:
            aside.write_bytes(msgspec.msgpack.encode(value))

    def renew(self, kind: str, key: str) -> None:
        """Count a value as fresh again."""
        with suppress(OSError):
            self._path(kind, key).touch()

    def _path(self, kind: str, key: str) -> Path:
        digest = hashlib.sha256(key.encode("utf-8", "backslashreplace")).hexdigest()
        return self._folder / kind / digest[:2] / digest

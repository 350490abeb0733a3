"""Fetch ONNX Runtime's official headers, for the tests that hold our tables against them and compile users' programs.

The headers are in no wheel. Debian ships those of some versions as `libonnxruntime-dev`, and nothing is installed
(ci/machines/debian.py); `latebind headers` finds others.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci.machines import NotAvailableError, check_hash, make_once, print_made
from ci.machines.debian import unpack
from latebind.errors import LatebindError
from latebind.headers import get_headers, write_headers
from latebind.tables.presets import preset

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "libonnxruntime-dev"
HEADER = "onnxruntime_c_api.h"
# Of the header itself: the same in the package of every architecture.
SHA256 = {
    "1.21": "7783e9664bdb0b1b36145b5c8587dd1bc9a399aa000edf2e3dd03003cafc6882",
}


@dataclass(frozen=True)
class Debian:
    """The package of a suite: of that version, else the suite's newest."""

    suite: str
    version: str = ""

    def put_headers(self, aside: Path, folder: Path) -> None:
        """Put the headers into a folder. Raises NotAvailableError."""
        unpack([f"{PACKAGE}={self.version}" if self.version else PACKAGE], aside, suite=self.suite)
        (aside / "usr" / "include" / "onnxruntime").rename(folder)


@dataclass(frozen=True)
class Release:
    """A release, wherever `latebind headers` finds it."""

    version: str

    def put_headers(self, aside: Path, folder: Path) -> None:
        """Put the headers into a folder. Raises NotAvailableError."""
        try:
            headers = get_headers(preset("onnxruntime"), self.version)
        except LatebindError as error:
            raise NotAvailableError(error.message.splitlines()[0]) from error
        write_headers(headers, "onnxruntime", aside / "include")
        (aside / "include").rename(folder)


SOURCES: dict[str, tuple[Debian | Release, ...]] = {
    "1.19": (Release("1.19.2"),),
    "1.21": (Debian("trixie", "1.21.0+dfsg-1"), Release("1.21.0")),
    "newest": (Release("1.29.0"), Debian("experimental")),
}
"""Where the headers of a version are, the first place that answers; the newest is that of our table."""


def fetch(destination: Path, version: str = "1.21") -> Path:
    """The C header in a folder below `destination`, next to the others; fetched when it is not there yet.

    Raises NotAvailableError.
    """
    return make_once(destination.absolute() / version, lambda folder: _make(folder, version)) / "include" / HEADER


def _make(folder: Path, version: str) -> None:
    reasons = []
    for number, source in enumerate(SOURCES[version]):
        aside = folder / f"aside-{number}"
        aside.mkdir()
        try:
            source.put_headers(aside, folder / "include")
            break
        except NotAvailableError as error:
            reasons.append(str(error))
    else:
        raise NotAvailableError("; ".join(reasons))
    shutil.rmtree(aside)
    header = folder / "include" / HEADER
    if not header.is_file():
        raise NotAvailableError(f"{source} has no {HEADER}")
    if version in SHA256:
        check_hash(header, HEADER, SHA256[version])


if __name__ == "__main__":
    sys.exit(print_made(fetch))

"""Fetch ONNX Runtime's official headers, for the tests that hold our tables against them and compile users' programs.

The header is in no wheel; Debian ships it as `libonnxruntime-dev`. Nothing is installed (ci/debian.py).
"""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING

from debian import NotAvailableError, made_once, print_made, unpack

if TYPE_CHECKING:
    from pathlib import Path

SUITE = "trixie"
PACKAGE = "libonnxruntime-dev"
VERSION = "1.21.0+dfsg-1"
HEADER = "usr/include/onnxruntime/onnxruntime_c_api.h"
# Of the header itself: the same in the package of every architecture.
SHA256 = "7783e9664bdb0b1b36145b5c8587dd1bc9a399aa000edf2e3dd03003cafc6882"


def fetch(destination: Path) -> Path:
    """The header in a folder below `destination`, unpacked when it is not there yet. Raises NotAvailableError."""
    return made_once(destination.absolute() / "onnxruntime", _make) / HEADER


def _make(folder: Path) -> None:
    unpack([f"{PACKAGE}={VERSION}"], folder, suite=SUITE)
    header = folder / HEADER
    if not header.is_file():
        raise NotAvailableError(f"{PACKAGE} {VERSION} has no {HEADER}")
    if (digest := hashlib.sha256(header.read_bytes()).hexdigest()) != SHA256:
        raise NotAvailableError(f"the header's sha256 is {digest}, not the pinned {SHA256}")


if __name__ == "__main__":
    sys.exit(print_made(fetch))

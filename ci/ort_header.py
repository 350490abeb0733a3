"""Fetch ONNX Runtime's official headers, for the tests that hold our tables against them and compile users' programs.

The header is in no wheel; Debian ships it as `libonnxruntime-dev`. Nothing is installed (ci/debian.py).
"""

from __future__ import annotations

import argparse
import hashlib
import pathlib
import shutil
import sys
import tempfile

from debian import NotAvailableError, unpack

SUITE = "trixie"
PACKAGE = "libonnxruntime-dev"
VERSION = "1.21.0+dfsg-1"
HEADER = "usr/include/onnxruntime/onnxruntime_c_api.h"
# Of the header itself: the same in the package of every architecture.
SHA256 = "7783e9664bdb0b1b36145b5c8587dd1bc9a399aa000edf2e3dd03003cafc6882"


def fetch(destination: pathlib.Path) -> pathlib.Path:
    """Put the headers into `destination` and give the path of the C header; one that is there and right is used."""
    target = destination / "onnxruntime_c_api.h"
    if target.exists() and _digest(target) == SHA256:
        return target
    destination.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="ort-header-") as name:
        header = pathlib.Path(name) / HEADER
        unpack([f"{PACKAGE}={VERSION}"], pathlib.Path(name), suite=SUITE)
        if not header.is_file():
            raise NotAvailableError(f"{PACKAGE} {VERSION} has no {HEADER}")
        digest = _digest(header)
        if digest != SHA256:
            raise NotAvailableError(f"the header's sha256 is {digest}, not the pinned {SHA256}")
        for other in sorted(header.parent.glob("*.h"), key=lambda path: path == header):  # it is the last: then all are
            part = destination / f"{other.name}.part"
            shutil.copyfile(other, part)
            part.replace(destination / other.name)
    return target


def _digest(path: pathlib.Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> int:
    """Fetch the header and print where it is, or why it is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("destination", type=pathlib.Path, help="the folder that gets the header")
    try:
        print(fetch(parser.parse_args().destination))
    except NotAvailableError as reason:
        print(f"not available: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

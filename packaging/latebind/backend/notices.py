"""Adds the notice of latebind's loader to wheels whose libraries hold it, as its license requires."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from latebind.backend.wheelfile import rewrite_wheel

NOTICE = "LICENSE-latebind.txt"
"""The name of the notice in every kind of package."""
_MARKS = (b"latebind loader ", b"latebind stub ")
"""Text of libraries that hold the loader or a stub (parts.toml)."""
_PEP_639 = re.compile(rb"\AMetadata-Version: (?:2\.(?:[4-9]|\d\d)|[3-9])")
_BODY = re.compile(rb"\r?\n\r?\n|\Z")


def notices(loader: Path, libraries: Iterable[Path]) -> dict[str, bytes]:
    """The notices that go with some libraries, by file name: none, or that of the loader, whose folder is `loader`."""
    contents = (path.read_bytes() for path in libraries)
    if any(mark in data for data in contents for mark in _MARKS):
        return {NOTICE: (loader / "LICENSE").read_bytes()}
    return {}


def add_notices(wheel: Path, license_texts: Mapping[str, bytes]) -> None:
    """Add notices to a wheel that hatchling wrote, whose licenses must be below the project's own folder.

    METADATA names them where its version has License-File (PEP 639).
    """
    if not license_texts:
        return
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        data = archive.read(metadata)
    info = metadata.rpartition("/")[0]
    lines = b"".join(f"\nLicense-File: {name}".encode() for name in license_texts)
    body = _BODY.search(data)
    if body and _PEP_639.match(data):
        data = data[: body.start()].rstrip(b"\n") + lines + (data[body.start() :] or b"\n")
    licenses = {f"{info}/licenses/{name}": text for name, text in license_texts.items()}
    rewrite_wheel(wheel, wheel, f"{info}/RECORD", {metadata: data, **licenses})

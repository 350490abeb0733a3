"""Hashes and copies files."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from loadcheck import Sha256


def sha256(path: Path) -> Sha256:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return Sha256(digest.hexdigest())


def copy_file(source: Path, destination: Path) -> None:
    """Copy a file without its rights, and make the folders above the copy."""
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, destination)

"""Hashes files."""

from __future__ import annotations

import hashlib
from pathlib import Path

from loadcheck import Sha256


def sha256(path: Path) -> Sha256:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return Sha256(digest.hexdigest())

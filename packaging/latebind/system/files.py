"""Replaces files as a whole, and hashes them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from loadcheck import Sha256


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to. It becomes `path` when the block succeeds, and is removed when it fails.

    An OSError about it names `path`, which the user knows.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.urandom(4).hex()}.part")
    try:
        aside.touch(exist_ok=False)  # where others may write, a link could wait under a name that can be guessed
        yield aside
        aside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename == str(aside):
            error.filename = str(path)
        raise


def write_text(path: Path, text: str) -> None:
    """Write text with LF line ends, to a temporary file that is renamed."""
    with replacing(path) as aside:
        aside.write_bytes(text.encode("utf-8"))


def sha256(path: Path) -> Sha256:
    """The SHA-256 of a file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return Sha256(digest.hexdigest())

"""Writes files, complete or not at all, and explains a full disk; hashes; and the time that archives have."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from latebind.backend.errors import InputError

UNIX = 3
"""The system that made a zip (APPNOTE.TXT 4.4.2). Always this one, so that zips are the same wherever they are made."""
EARLIEST = 315532800  # 1980-01-01T00:00:00Z, the first time that a zip can store
LATEST = 4354819198  # 2107-12-31T23:59:58Z, the last
_DEFAULT_EPOCH = 1580601600  # 2020-02-02T00:00:00Z, hatchling's own default, so that wheel and nupkg agree
_LITTLE_ROOM = 2 * 1024 * 1024


def source_date_epoch() -> int:
    """SOURCE_DATE_EPOCH in seconds since 1970; 2020-02-02 when it is not set.

    Times before 1980 become 1980, the first that a zip can store. Raises InputError when it is not a whole number,
    or is later than a zip can store.
    """
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not text:
        return _DEFAULT_EPOCH
    advice = "Set it to `git log -1 --format=%ct`."
    if not text.isascii() or not text.isdigit():
        raise InputError(f"SOURCE_DATE_EPOCH is {text!r}, not a number of seconds", advice=advice)
    if int(text) > LATEST:
        raise InputError(f"SOURCE_DATE_EPOCH is {text}, but zip archives cannot store times after 2107", advice=advice)
    return max(int(text), EARLIEST)


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


def write_changed(texts: Mapping[str, str], folder: Path) -> list[Path]:
    """Write files by their names below `folder`, unless they have that text: a newer time would rebuild everything."""
    text_by_path = {folder / name: text for name, text in texts.items()}
    for path, text in text_by_path.items():
        if not path.is_file() or path.read_text("utf-8") != text:
            write_text(path, text)
    return list(text_by_path)


def explain_full_disk(folder: Path) -> str:
    """What programs that die or write half a file without a message leave unsaid; "" where there is room."""
    return f"{describe_full_disk(folder)}." if shutil.disk_usage(folder).free <= _LITTLE_ROOM else ""


def describe_full_disk(path: Path) -> str:
    """How much room is left where a file or folder could not be written, and what to do."""
    folder = next(parent for parent in (path.absolute(), *path.absolute().parents) if parent.is_dir())
    free = shutil.disk_usage(folder).free // 1024
    return f"The disk is full: {free} KiB are left for {folder}. Free space and run the command again"


def digest(parts: Sequence[str]) -> str:
    """One hash of several texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()

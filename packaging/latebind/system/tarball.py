"""Writes deterministic tar archives."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
from typing import TYPE_CHECKING

from latebind.errors import InputError
from latebind.system.archive import replacing, source_date_epoch

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from latebind.system.archive import Entry


def write_tar(path: Path, entries: Iterable[Entry]) -> None:
    """Write entries as a deterministic .tar.gz: sorted by name, SOURCE_DATE_EPOCH as the time, nobody as the owner.

    An entry whose mode is that of a symbolic link holds the link's target. The archive is written to a temporary file
    and renamed. Raises InputError for a repeated name.
    """
    rows = sorted(entries, key=lambda entry: entry.name)
    names = [row.name for row in rows]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"stored more than once: {', '.join(twice)}", where=str(path))
    moment = source_date_epoch()
    with (
        replacing(path) as aside,
        aside.open("wb") as file,
        gzip.GzipFile("", "wb", compresslevel=9, fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for row in rows:
            info = tarfile.TarInfo(row.name)
            info.mode, info.mtime = stat.S_IMODE(row.mode), moment
            if stat.S_ISLNK(row.mode):
                info.type, info.linkname = tarfile.SYMTYPE, row.data.decode()
                archive.addfile(info)
            else:
                info.size = len(row.data)
                archive.addfile(info, io.BytesIO(row.data))

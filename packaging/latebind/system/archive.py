"""Writes deterministic zip and tar archives, and unpacks those that latebind made."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import time
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from latebind.backend.files import LATEST, UNIX, replacing, source_date_epoch
from latebind.errors import InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One file to be written."""

    name: str
    data: bytes
    mode: int = 0o644
    compressed: bool = True
    """Compressing takes a second for 20 MB, which a file that stays on this machine does not need."""


def write_zip(path: Path, entries: Iterable[Entry], *, first: tuple[str, ...] = (), later: int = 0) -> None:
    """Write entries as a deterministic zip: sorted by name (those in `first` lead), one time, fixed modes.

    The time is SOURCE_DATE_EPOCH, or `later` seconds after the default when that is not set.

    The archive is written to a temporary file and renamed. Raises InputError for a repeated name, and OSError when it
    cannot be written; an earlier file at `path` is then unchanged.
    """
    order = {name: index for index, name in enumerate(first)}
    ordered = sorted(entries, key=lambda entry: (order.get(entry.name, len(order)), entry.name))
    if twice := sorted({entry.name for entry, following in pairwise(ordered) if entry.name == following.name}):
        raise InputError(f"stored more than once: {', '.join(twice)}", where=str(path))
    extra = 0 if os.environ.get("SOURCE_DATE_EPOCH") else later
    moment = time.gmtime(min(source_date_epoch() + extra, LATEST))[:6]
    with replacing(path) as aside, zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for entry in ordered:
            info = zipfile.ZipInfo(entry.name, moment)
            info.external_attr = (stat.S_IFREG | entry.mode) << 16
            info.create_system = UNIX
            info.compress_type = zipfile.ZIP_DEFLATED if entry.compressed else zipfile.ZIP_STORED
            archive.writestr(info, entry.data)


def unpack_tar(path: Path, folder: Path) -> Path:
    """The one folder of an archive that latebind made, unpacked into a folder. Raises InputError for any other."""
    safe = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}  # Python 3.10.12, 3.11.4 and newer
    try:
        with tarfile.open(path) as archive:
            archive.extractall(folder, **safe)  # type: ignore[arg-type]  # noqa: S202  # ours
        (root,) = folder.iterdir()
    except (tarfile.TarError, ValueError) as error:
        raise InputError(f"cannot be unpacked: {error}", where=str(path)) from error
    return root


def write_tar(path: Path, entries: Iterable[Entry]) -> None:
    """Write entries as a deterministic .tar.gz: sorted by name, SOURCE_DATE_EPOCH as the time, nobody as the owner.

    An entry whose mode is that of a symbolic link holds the link's target. The archive is written to a temporary file
    and renamed. Raises InputError for a repeated name.
    """
    ordered = sorted(entries, key=lambda entry: entry.name)
    names = [entry.name for entry in ordered]
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
        for entry in ordered:
            info = tarfile.TarInfo(entry.name)
            info.mode, info.mtime = stat.S_IMODE(entry.mode), moment
            if stat.S_ISLNK(entry.mode):
                info.type, info.linkname = tarfile.SYMTYPE, entry.data.decode()
                archive.addfile(info)
            else:
                info.size = len(entry.data)
                archive.addfile(info, io.BytesIO(entry.data))

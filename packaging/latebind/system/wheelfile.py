"""Writes a wheel again with some members added, replaced or removed; all others keep their bytes and times.

Writes zips of other systems as Unix has them.
"""

from __future__ import annotations

import base64
import copy
import csv
import hashlib
import io
import stat
import time
import zipfile
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from latebind.errors import InputError
from latebind.system.archive import UNIX, source_date_epoch
from latebind.system.files import replacing

_BLOCK = 1 << 20


def rewrite_wheel(
    source: Path, output: Path, record: str, changed: Mapping[str, bytes], without: Collection[str] = ()
) -> None:
    """Write the wheel `source` as `output`, which may be the same file, with some members changed.

    `record` is the name of its RECORD, which lists what is changed afterwards; `without` are members to leave out. The
    time of new members is SOURCE_DATE_EPOCH. The wheel is written to a temporary file and renamed. Raises InputError
    for a RECORD that cannot be read, and for a damaged archive.
    """
    try:
        with replacing(output) as aside, zipfile.ZipFile(source) as old, aside.open("w+b") as file:
            text = old.read(record).decode("utf-8")
            gone = {*changed, *without, record}
            with source.open("rb") as raw, zipfile.ZipFile(file, "w") as new:
                _copy(raw, old, file, new, gone)
                for name, data in {**changed, record: _record(text, record, changed, gone).encode()}.items():
                    new.writestr(_info(name), data)
    except (zipfile.BadZipFile, KeyError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"cannot be written again: {error}", where=str(source)) from error


def record_digest(data: bytes) -> str:
    """The hash of a file as RECORD has it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _copy(raw: BinaryIO, old: zipfile.ZipFile, file: BinaryIO, new: zipfile.ZipFile, gone: Collection[str]) -> None:
    """Copy members as they are stored: the header, the compressed bytes, and what follows them."""
    infos = sorted(old.infolist(), key=lambda info: info.header_offset)
    ends = [*(info.header_offset for info in infos[1:]), old.start_dir]
    for info, end in zip(infos, ends, strict=True):
        if info.filename in gone:
            continue
        raw.seek(info.header_offset)
        copied = copy.copy(info)
        copied.header_offset = file.tell()
        _copy_bytes(raw, file, end - info.header_offset)
        new.filelist.append(copied)  # zipfile has no way to add a member that is compressed already
        new.NameToInfo[copied.filename] = copied
        new.start_dir = file.tell()


def _copy_bytes(raw: BinaryIO, file: BinaryIO, size: int) -> None:
    file.writelines(raw.read(end - start) for start, end in pairwise([*range(0, size, _BLOCK), size]))


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, time.gmtime(source_date_epoch())[:6])
    info.external_attr = (stat.S_IFREG | 0o644) << 16
    info.create_system = UNIX
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _record(text: str, record: str, changed: Mapping[str, bytes], gone: Collection[str]) -> str:
    """RECORD with the lines of changed files: other lines stay as they are, its own comes last."""
    lines = text.splitlines()
    remaining = [line for line in lines if line and next(csv.reader([line]))[0] not in gone]
    remaining += _lines((name, record_digest(data), str(len(data))) for name, data in changed.items())
    end = "\r\n" if "\r\n" in text else "\n"
    return "".join(line + end for line in [*remaining, *_lines([(record, "", "")])])


def _lines(records: Iterable[tuple[str, str, str]]) -> list[str]:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(records)
    return buffer.getvalue().splitlines()


def name_unix(path: Path) -> None:
    """Rewrite a zip that was made on another system than Unix.

    Its bytes are then those that the same tool writes on Linux.
    """
    with zipfile.ZipFile(path) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    if all(info.create_system == UNIX for info, _ in members):
        return
    with replacing(path) as aside, zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
        for info, data in members:
            info.create_system = UNIX
            archive.writestr(info, data)

"""Writes headers with a record of what they are, and reads them back as long as they are what was recorded."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from latebind.headers.files import Headers
from loadcheck.archive import replacing, write_text


class HeaderRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`<runtime>-headers.json`: what the headers next to it are, and their hashes."""

    runtime: str
    version: str
    source: str
    sha256: dict[str, str]


def write_headers(headers: Headers, runtime: str, folder: Path) -> None:
    """Write headers into a folder, next to what is there. Each file is whole or as it was; the record comes last."""
    for name, data in headers.files.items():
        with replacing(folder / name) as aside:
            aside.write_bytes(data)
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in headers.files.items()}
    record = HeaderRecord(runtime=runtime, version=headers.version, source=headers.source, sha256=hashes)
    text = msgspec.json.format(msgspec.json.encode(record), indent=1).decode()
    write_text(_record_file(folder, runtime), f"{text}\n")


def read_recorded(folder: Path, runtime: str) -> Headers | None:
    """The recorded headers of a folder; None where there is no record, or a file is not what was recorded."""
    try:
        record = msgspec.json.decode(_record_file(folder, runtime).read_bytes(), type=HeaderRecord)
        files = {name: (folder / name).read_bytes() for name in record.sha256}
    except (OSError, ValueError):
        return None
    if any(hashlib.sha256(files[name]).hexdigest() != digest for name, digest in record.sha256.items()):
        return None
    return Headers(record.version, record.source, files)


def _record_file(folder: Path, runtime: str) -> Path:
    return folder / f"{runtime}-headers.json"

"""Reads which libraries an ELF file says that it opens (.note.dlopen; uapi-group.org, "ELF dlopen Metadata")."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from loadcheck.binary.image import Opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadcheck.binary.elffile import ElfFile

_NT_FDO_DLOPEN = 0x407C0C0A
_PRIORITIES = ("required", "recommended", "suggested")


def list_opened(file: ElfFile) -> tuple[Opened, ...]:
    """The features of a file's notes, each with libraries of which it opens one; without entries of another form."""
    return tuple(opened for text in file.list_notes(b"FDO", _NT_FDO_DLOPEN) for opened in _read(text))


def _read(text: bytes) -> Iterator[Opened]:
    try:
        entries: Any = json.loads(text.rstrip(b"\0"))
    except (ValueError, RecursionError):
        return
    for entry in entries if isinstance(entries, list) else ():
        names = entry.get("soname") if isinstance(entry, dict) else None
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            priority = entry.get("priority", "recommended")
            yield Opened(
                names=tuple(names),
                feature=str(entry.get("feature", "")),
                priority=priority if priority in _PRIORITIES else "recommended",
            )

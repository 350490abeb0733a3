"""What SDK archives say, for the audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadcheck.engine.kinds import AuditedKind, TwinFacts
from loadcheck.readers.sdk_files import HEADERS

if TYPE_CHECKING:
    from loadcheck.readers.contents import Contents

_MAX_TEXT = 16 * 1024**2
"""Import libraries are smaller; static libraries, which have the same suffix, need not be kept."""


def _is_text(name: str, size: int) -> bool:
    return size <= _MAX_TEXT and name.endswith((".cmake", ".pc", ".lib", ".dll.a", *HEADERS))


def _find_twin_facts(package: Contents) -> TwinFacts | None:
    """It holds libraries of several packages, so it has no project of its own."""
    if package.sdk is None:
        return None
    files = {file.own_name: (package.subject(file.name), file.sha256) for file in package.native}
    native = {package.sdk["rid"]: files}
    return TwinFacts(subject=package.subject(), kind="sdk", project="", version=package.sdk["version"], native=native)


KINDS = (
    AuditedKind(
        kind="sdk",
        is_text=_is_text,
        find_project=lambda package: f"{package.sdk['name']}-sdk" if package.sdk is not None else "",
        find_rid=lambda package, _file: package.sdk["rid"] if package.sdk is not None else "",
        find_twin_facts=_find_twin_facts,
    ),
)

"""Finds C interfaces over `Ort::` whose exceptions nothing catches, by reading a project's C++ files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

_CPP = (".cc", ".cpp", ".cxx")
_HEADERS = (".h", ".hpp")
_OFFICIAL = "onnxruntime_"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_INTERFACE = re.compile(r'\bextern\s+"C"')
_ORT = re.compile(r"\bOrt::")
_CATCH = re.compile(r"\bcatch\s*\(")
_MAIN = re.compile(r"\bint\s+w?main\s*\(")


def find_uncaught(texts: Mapping[Path, str]) -> Iterator[Path]:
    """The files that define C functions and catch nothing, in path order; none where no file uses `Ort::`.

    A file defines C functions if it has `extern "C"`, or its header has. A guard in another file is
    not seen, so this is a reason to look and no proof.
    """
    own_files = {path: _COMMENT.sub("", text) for path, text in texts.items() if not path.name.startswith(_OFFICIAL)}
    if not any(_ORT.search(text) for text in own_files.values()):
        return
    headers = [path for path in own_files if path.suffix in _HEADERS]
    declaring = {path for path in headers if _INTERFACE.search(own_files[path])}
    for path, text in sorted(own_files.items()):
        is_interface = path.suffix in _CPP and (_INTERFACE.search(text) or declaring & _find_headers(path, headers))
        if is_interface and not _CATCH.search(text) and not _MAIN.search(text):
            yield path


def _find_headers(path: Path, headers: Sequence[Path]) -> set[Path]:
    """The headers of the same name as a file: those next to it, or else those in any folder."""
    named = {header for header in headers if header.stem == path.stem}
    return {header for header in named if header.parent == path.parent} or named

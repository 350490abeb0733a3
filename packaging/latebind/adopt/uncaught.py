"""Finds C interfaces over `Ort::` whose exceptions nothing catches, by reading a project's C++ files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
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

    A file defines C functions if it has `extern "C"`, or the header of the same name has. A guard in another file is
    not seen, so this is a reason to look and no proof.
    """
    own_files = {path: _COMMENT.sub("", text) for path, text in texts.items() if not path.name.startswith(_OFFICIAL)}
    if not any(_ORT.search(text) for text in own_files.values()):
        return
    declared = {path.stem for path, text in own_files.items() if path.suffix in _HEADERS and _INTERFACE.search(text)}
    for path, text in sorted(own_files.items()):
        is_interface = path.suffix in _CPP and (path.stem in declared or _INTERFACE.search(text))
        if is_interface and not _CATCH.search(text) and not _MAIN.search(text):
            yield path

"""Finds code for which nothing links ONNX Runtime: the runtime calls it, or it opens the runtime by itself."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from latebind.config.ep import EP_EXPORTS
from latebind.tables.presets import presets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_HEADERS = (".h", ".hpp")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_OPENS = re.compile(r"\b(?:dlopen|LoadLibrary(?:Ex)?[AW]?)\s*\(")
OPERATORS = "RegisterCustomOps"
"""What ONNX Runtime calls in a library of custom operators."""
_ENTRIES = (OPERATORS, EP_EXPORTS[0])


def find_called(texts: Mapping[Path, str]) -> Iterator[tuple[Path, str]]:
    """The C and C++ files that define a function which ONNX Runtime looks up in a library, with its name."""
    for path, text in texts.items():
        if path.suffix not in _HEADERS:
            plain = _COMMENT.sub("", text)
            yield from ((path, name) for name in _ENTRIES if re.search(rf"\b{name}\s*\([^;{{]*\)[^;{{()]*\{{", plain))


def find_opening(texts: Mapping[Path, str]) -> Iterator[tuple[Path, str]]:
    """The files that open a library whose name is in them and is a runtime's, with the runtime."""
    for path, text in texts.items():
        plain = _COMMENT.sub("", text)
        if _OPENS.search(plain):
            yield from ((path, name) for name, preset in presets().items() if _names(plain, preset.file_globs))


def _names(text: str, globs: tuple[str, ...]) -> bool:
    """Whether a literal has one of these file names, of which a `*` at the end stands for a version."""
    names = [re.escape(glob.removesuffix("*")) for glob in globs if "*" not in glob[:-1]]
    return any(re.search(rf'"(?:[^"\n]*[/\\\\])?{name}(?:\.[\w.]*)?"', text, re.IGNORECASE) for name in names)

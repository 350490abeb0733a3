"""Which add-ons of Node.js, and which packages, the text of JavaScript code opens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadcheck.binary import Data

SCRIPTS = (".js", ".cjs", ".mjs")
ANY_ADDON = "*"
"""In place of a name: an add-on whose name the code makes or finds when it runs."""
_MAX_NAMES = 200
_ENDING = re.compile(rb"\.node(?=['\"`])")
_OUTSIDE_NAMES = re.compile(rb"[^\w@.+~-]")
_LONGEST_NAME = 200
_SEARCHES = re.compile(
    rb"\b(?:node-gyp-build|node-pre-gyp|pkg-prebuilds|bindings|dlopen|readdir(?:Sync)?|glob(?:Sync)?)\b|"
    rb"\b\w*[rR]equire(?:\.resolve)?\(\s*(?!process\.env\.)[^'\"`\s)]|\bimport\(\s*[^'\"`\s)]|"
    rb"(?:[rR]equire|\bimport)\(\s*`[^`]{0,200}\$\{"
)
"""Packages and functions that look for an add-on, and names that are not written out."""


_REQUIRES = re.compile(rb"\brequire\(\s*['\"](@?[\w.~/-]{1,214})['\"]\s*\)")


def find_required(data: Data) -> tuple[str, ...]:
    """The packages that JavaScript code requires by names that are written out; not its own files."""
    names = dict.fromkeys(match[1].decode("ascii", "replace") for match in _REQUIRES.finditer(data))
    return tuple(name for name in names if not name.startswith((".", "/")))[:_MAX_NAMES]


def find_addons(data: Data) -> tuple[str, ...]:
    """The names of add-ons in JavaScript code, or how they end; with ANY_ADDON if the code may open others."""
    names = {
        _OUTSIDE_NAMES.split(data[max(0, match.start() - _LONGEST_NAME) : match.start()])[-1].decode("ascii", "replace")
        for match in _ENDING.finditer(data)
    }
    searches = "" in names or _SEARCHES.search(data) is not None
    found = sorted(f"{name}.node" for name in names if name)[:_MAX_NAMES]
    return (ANY_ADDON, *found) if searches else tuple(found)

"""Which packages the text of JavaScript code requires."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadcheck.binary import Data

SCRIPTS = (".js", ".cjs", ".mjs")
_REQUIRES = re.compile(rb"\brequire\(\s*['\"](@?[\w.~/-]{1,214})['\"]\s*\)")
_MAX_NAMES = 200


def find_required(data: Data) -> tuple[str, ...]:
    """The packages that JavaScript code requires by names that are written out; not its own files."""
    names = dict.fromkeys(match[1].decode("ascii", "replace") for match in _REQUIRES.finditer(data))
    return tuple(name for name in names if not name.startswith((".", "/")))[:_MAX_NAMES]

"""Loads one library and says what that alone changed in the process; it runs in clean environments, without latebind.

    python -I onload.py CHANGED.json LIBRARY

CHANGED.json is a list of words. A library that cannot be loaded by itself changed nothing: the consumer will say why.
"""

from __future__ import annotations

import ctypes
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_DENORMAL = 5e-324


def main() -> int:
    """Look, load, look again."""
    out, library = sys.argv[1:]
    before = state()
    try:
        ctypes.CDLL(library)
    except OSError:
        changed = []
    else:
        after = state()
        changed = [name for name, value in before.items() if after[name] != value]
    Path(out).write_text(json.dumps(changed), encoding="utf-8")
    return 0


def state() -> dict[str, object]:
    """What belongs to the whole process and so not to a library."""
    found: dict[str, object] = {"how tiny numbers are computed": str(_DENORMAL * float("1"))}
    rounding: Callable[[], int] | None = getattr(ctypes.CDLL(None), "fegetround", None) if _is_posix() else None
    if rounding is not None:
        found["how numbers are rounded"] = rounding()
    if sys.platform == "linux":
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("utf-8").splitlines())
        found["which signals are handled"] = (status["SigIgn"], status["SigCgt"])
        found["how many threads run"] = status["Threads"]
        found["the environment variables"] = _variables()
    return found


def _is_posix() -> bool:
    return sys.platform != "win32"  # there CDLL(None) is nothing


def _variables() -> list[bytes]:
    """As C sees them: os.environ is a copy."""
    rows = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found, number = [], 0
    while (row := rows[number]) is not None:
        found.append(row)
        number += 1
    return found


if __name__ == "__main__":
    sys.exit(main())

"""Loads one library and lists what that changed in the process; it only needs the standard library.

    python -I onload.py CHANGED.json LIBRARY

CHANGED.json is a list of texts. A library that cannot be loaded alone changes nothing: the consumer will report why.
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
    """Look, load, and look again."""
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
    """State of the whole process, which a library must leave alone."""
    facts: dict[str, object] = {"how denormal numbers are computed": str(_DENORMAL * float("1"))}
    rounding: Callable[[], int] | None = None
    if sys.platform != "win32":  # there CDLL(None) is nothing
        rounding = getattr(ctypes.CDLL(None), "fegetround", None)
    if rounding is not None:
        facts["how numbers are rounded"] = rounding()
    if sys.platform == "linux":
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("utf-8").splitlines())
        facts["which signals are handled"] = (status["SigIgn"], status["SigCgt"])
        facts["how many threads run"] = status["Threads"]
        facts["the environment variables"] = _variables()
    return facts


def _variables() -> list[bytes]:
    """The variables as C sees them; os.environ is a copy."""
    pointers = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    variables, number = [], 0
    while (variable := pointers[number]) is not None:
        variables.append(variable)
        number += 1
    return variables


if __name__ == "__main__":
    sys.exit(main())

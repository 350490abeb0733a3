"""The page that shows the change from a linked to a late-bound runtime: the difference of two folders of examples/."""

from __future__ import annotations

import difflib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = Path("examples/linked-to-late")
PAGE = Path("docs/linked-to-late.md")

_HEAD = """\
<!-- Made by ci/gen.py from examples/linked-to-late. -->

# From linked to late

A C library that linked ONNX Runtime, and the same library bound late: {count} lines change. `latebind init` finds such
targets and shows the changes of the CMake file for your own project.

"""
_TAIL = """
`tinyrun_open()` is new: the host tells where the runtime may be, or nothing, and gets a report. `OrtApi` is asked for
at the version of the floor, which every runtime that was bound has. `latebind.toml`, the Python package and the script
of the verification lie beside it in [examples/linked-to-late/after](../examples/linked-to-late/after).
"""


def outputs() -> dict[Path, str]:
    """The page with its path."""
    sides = [ROOT / EXAMPLE / side / "native" for side in ("before", "after")]
    blocks, count = [], 0
    for name in ("CMakeLists.txt", "tinyrun.c"):
        old, new = [(side / name).read_text("utf-8").splitlines(keepends=True) for side in sides]
        rows = list(difflib.unified_diff(old, new, f"before/native/{name}", f"after/native/{name}", n=1))
        count += sum(row[0] in "+-" for row in rows[2:])
        blocks.append(f"```diff\n{''.join(rows)}```\n")
    return {PAGE: _HEAD.format(count=count) + "\n".join(blocks) + _TAIL}

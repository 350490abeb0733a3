"""The page that shows the change from a linked to a late-bound runtime: the difference of two folders of examples/."""

from __future__ import annotations

import difflib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = Path("examples/linked-to-late")
PAGE = Path("docs/linked-to-late.md")

_HEAD = """\
<!-- Made by ci/gen.py from examples/linked-to-late. -->

# Move from a linked or bundled runtime

A C library that linked ONNX Runtime, and the same library bound late: {count} lines change. `latebind init --dry-run`
finds such targets and shows the changes for your own project.

"""
_TAIL = """
`tinyrun_open()` is new: the caller passes where the runtime may be, or nothing, and gets a report. It asks for `OrtApi`
at the version of the floor, which every runtime that was bound has. `latebind.toml`, the Python package and the script
of the verification are next to it in [examples/linked-to-late/after](../examples/linked-to-late/after).

C++: define `ORT_API_MANUAL_INIT` before `onnxruntime_cxx_api.h`, and call `Ort::InitApi()` with the table that was
bound before anything else of it; without, its globals link the runtime.

## When a copy of the runtime is in your packages

It is out of the link line then, too, and these go as well:

1. what puts it there: `install(FILES ...)` of its library, `package_data`, `DllImport` resolvers, post-build copies;
2. what made room for it: `RPATH=$ORIGIN`, `auditwheel repair` and `delocate` that graft it or rename it
   (`libonnxruntime-1a2b3c4d.so`);
3. the pin on one release in your requirements: with `extras = "channels"` the wheel gets `[cpu]`, `[gpu]` and the
   others from the one `minimum`, and users choose.

```console
$ latebind audit dist/
```

says when all of it is gone: [LB101](checks/index.md) linked, [LB102](checks/index.md) a symbol version needed,
[LB103](checks/index.md) bundled, [LB104](checks/index.md) a renamed copy, [LB105](checks/index.md) a copy inside
another library, [LB108](checks/index.md) and [LB109](checks/index.md) search paths.

Tell users that `pip install yours` no longer installs a runtime, and `pip install "yours[cpu]"` does. If they forget,
the error message at the first model says so.
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

"""Write loadcheck's cpython.txt: the names that some versions of CPython export, and others do not.

    python -m generate.cpython_symbols libpython3.6m.so.1.0 ... libpython3.13.so.1.0

Each argument is the library of one minor version (./configure --enable-shared). Names that all of them export are left
out: no module fails because of them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from generate.libc_symbols import FOLDER, fill

from loadcheck.binary import read_images

if TYPE_CHECKING:
    from collections.abc import Sequence

PATH = FOLDER / "cpython.txt"
_MINOR = re.compile(r"libpython3\.(\d+)")
_NAME = re.compile(r"_?Py[A-Z_]\w*")


def main(arguments: Sequence[str]) -> int:
    """Write the list from the exports of the libraries."""
    minors: dict[str, set[int]] = {}
    versions: set[int] = set()
    for path in arguments:
        match = _MINOR.match(Path(path).name)
        if match is None:
            raise SystemExit(f"{path} is not named like a library of CPython 3")
        versions.add(int(match[1]))
        for export in (export for image in read_images(Path(path).read_bytes(), path) for export in image.exports):
            if _NAME.fullmatch(export.name):
                minors.setdefault(export.name, set()).add(int(match[1]))
    groups: dict[tuple[int, ...], set[str]] = {}
    for name, exporters in minors.items():
        if exporters != versions:
            groups.setdefault(tuple(sorted(exporters)), set()).add(name)
    text = (
        f"# Written by generate/cpython_symbols.py from CPython 3.{min(versions)} to 3.{max(versions)}; do not edit.\n"
    )
    for key, group in sorted(groups.items()):
        text += f"{' '.join(map(str, key))}:\n{fill(group)}"
    PATH.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

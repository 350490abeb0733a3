"""Write loadcheck's libstdcxx.txt: the names of GCC's C++ library, by the version that added them.

    python -m generate.cxx_symbols libstdc++.so.6     # a newest one for x86-64, such as that of Debian's libstdc++6

Names before GCC 5 are left out: the oldest manylinux that is still built for has them.
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

PATH = FOLDER / "libstdcxx.txt"
_VERSION = re.compile(r"GLIBCXX_3\.4\.(?P<last>\d+)")
_OLDEST = 20
_OF_GCC_5 = "__cxx11"
"""The namespace of GLIBCXX_3.4.21: its 1500 names need no list."""
_CERTAIN = {26: "_ZNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEC1Ev", 32: "_ZSt21ios_base_library_initv"}


def main(arguments: Sequence[str]) -> int:
    """Write the list from the exports of a library."""
    (path,) = arguments
    data = Path(path).read_bytes()
    names: dict[int, set[str]] = {}
    for export in (export for image in read_images(data, path) for export in image.exports):
        match = _VERSION.fullmatch(export.version)
        is_listed = match and int(match["last"]) >= _OLDEST and export.name != export.version
        if match and is_listed and not (int(match["last"]) == _OLDEST + 1 and _OF_GCC_5 in export.name):
            names.setdefault(int(match["last"]), set()).add(export.name)
    if any(name not in names.get(last, ()) for last, name in _CERTAIN.items()):
        raise SystemExit(f"{path} lacks names that libstdc++ has")
    text = f"# Written by generate/cxx_symbols.py from a libstdc++ with GLIBCXX_3.4.{max(names)}; do not edit.\n"
    for last, group in sorted(names.items()):
        text += f"GLIBCXX_3.4.{last}:\n{fill(group)}"
    PATH.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Write loadcheck's darwin.txt: the names that macOS's libSystem exports, by the macOS that first had them.

    python -m generate.darwin_symbols            # from the ziglang that is installed
    python -m generate.darwin_symbols --check    # says whether the file is what it gives

zig has Apple's `libSystem.tbd` and the headers of the same SDK. The headers say since which macOS a function exists
(`API_AVAILABLE`, `__OSX_AVAILABLE`). Names without a version, and those older than macOS 10.9, are below `*`. A few
names that no header declares are in platforms.toml.
"""

from __future__ import annotations

import argparse
import re
import sys
from importlib.metadata import distribution, version
from pathlib import Path
from typing import TYPE_CHECKING

from generate.libc_symbols import FOLDER, fill

if TYPE_CHECKING:
    from collections.abc import Sequence

PATH = FOLDER / "darwin.txt"
_OLDEST = (10, 9)
"""The oldest macOS of a platform tag that a maintained Python accepts."""
_SYMBOLS = re.compile(r"\b(?:weak-)?symbols:\s*\[([^\]]*)\]")
_EXPORTED = re.compile(r"(?<![\w$])_(\w+)(?![\w$])")
_NOISE = re.compile(r"/\*.*?\*/|//[^\n]*|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE | re.DOTALL)
_SINCE = re.compile(
    r"(?:API_AVAILABLE|__OSX_AVAILABLE|__OSX_AVAILABLE_STARTING)\s*\(\s*(?:macos\(|macosx\(|__MAC_)?(\d+)[._](\d+)"
)
_CLOCKS = ("__CLOCK_AVAILABILITY", "__OSX_AVAILABLE(10.12)")
"""A macro of _time.h, and what it stands for."""
_OLDER = re.compile(r"wait|OSAtomic\w+|_tlv_\w+|funmount")
"""Names whose annotation is that of another declaration, or newer than the function."""
_CALLED = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_CERTAIN = {"clock_gettime": "10.12", "preadv": "11.0", "aligned_alloc": "10.15", "futimens": "10.13"}


def main(arguments: Sequence[str]) -> int:
    """Write the list, or compare it with its source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare; write nothing")
    check = parser.parse_args(arguments).check
    libraries = Path(str(distribution("ziglang").locate_file("ziglang/lib/libc")))
    names = list_exports((libraries / "darwin" / "libSystem.tbd").read_text("utf-8"))
    since = list_since(libraries / "include" / "any-darwin-any", names)
    if any(since.get(name) != text for name, text in _CERTAIN.items()):
        raise SystemExit("ziglang has its headers in another form")
    groups: dict[str, set[str]] = {}
    for name in names:
        groups.setdefault(since.get(name, "*"), set()).add(name)
    text = f"# Written by generate/darwin_symbols.py from ziglang {version('ziglang')}; do not edit.\n"
    text += "".join(f"{key}:\n{fill(groups[key])}" for key in sorted(groups, key=_rank))
    if not check:
        PATH.write_text(text, "utf-8")
    elif not PATH.is_file() or PATH.read_text("utf-8") != text:
        print(f"{PATH.name} differs: run python -m generate.darwin_symbols")
        return 1
    return 0


def list_exports(text: str) -> set[str]:
    """The names in C that a .tbd file lists, without those of old variants, such as `$INODE64`."""
    return {name for part in _SYMBOLS.findall(text) for name in _EXPORTED.findall(part)}


def list_since(folder: Path, names: set[str]) -> dict[str, str]:
    """The macOS that first had some of the names, by the headers in a folder."""
    since: dict[str, str] = {}
    for path in sorted(folder.rglob("*.h")):
        text = _NOISE.sub(" ", path.read_text("utf-8", "replace")).replace(*_CLOCKS)
        for declaration in re.split(r"[;{}]", text):
            versions = [(int(major), int(minor)) for major, minor in _SINCE.findall(declaration)]
            name = next((name for name in _CALLED.findall(declaration) if name in names), "")
            if name and not _OLDER.fullmatch(name) and len(versions) == 1 and versions[0] >= _OLDEST:
                since[name] = min(since.get(name, "99.0"), "{}.{}".format(*versions[0]), key=_rank)
    return since


def _rank(key: str) -> tuple[int, ...]:
    return tuple(int(part) for part in key.split(".")) if key != "*" else ()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

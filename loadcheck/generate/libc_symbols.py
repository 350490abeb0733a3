"""Write loadcheck's glibc.txt, libm.txt and musl.txt: the names that the C libraries of Linux define.

libm.txt has those that glibc defines in libm.so.6 alone, by processor: a few are in libc.so.6, too, on some.
glibcsince.txt has those that glibc has only since a version after 2.17, by this version.

    python -m generate.libc_symbols              # from the ziglang that is installed
    python -m generate.libc_symbols --check      # says whether the files are what it gives

zig has them to make stand-ins of both libraries: `abilists` for glibc up to its newest version, on every architecture
(the format is read by zig's src/libs/glibc.zig), and `libc.S` for musl.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from importlib.metadata import distribution, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parents[1] / "src" / "loadcheck" / "engine"
Symbol = tuple[str, str, frozenset[str], tuple[int, ...]]
"""Its name, a library that has it, the processors, and the version of glibc that first has it there."""
_OLDEST = (2, 17)
_LAST = 0x80
"""The bit that ends a number, a list of versions, and the entries of a symbol."""
_MUSL = re.compile(r"^\s*(?:\.globl|\.weak|WEAK\w*)\s+(\w+)", re.MULTILINE)
_CERTAIN = {"malloc", "pthread_create", "dlopen", "sqrt"}
_ARCHS = {
    "x86_64": "x86_64-linux-gnu",
    "aarch64": "aarch64-linux-gnu",
    "i686": "x86-linux-gnu",
    "armv7l": "arm-linux-gnueabihf",
    "ppc64le": "powerpc64le-linux-gnu",
    "s390x": "s390x-linux-gnu",
    "riscv64": "riscv64-linux-gnu",
}
"""The processors of wheel tags, and what zig calls their targets."""


def main(arguments: Sequence[str]) -> int:
    """Write the lists, or compare them with their source."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare; write nothing")
    check = parser.parse_args(arguments).check
    libraries = Path(str(distribution("ziglang").locate_file("ziglang/lib/libc")))
    entries = list_glibc((libraries / "glibc" / "abilists").read_bytes())
    names = {
        "glibc": {name for name, _, _, _ in entries},
        "musl": set(_MUSL.findall((libraries / "musl" / "libc.S").read_text("utf-8"))),
    }
    texts = {libc: fill(symbols) for libc, symbols in names.items()}
    for file, groups in (("libm", list_libm(entries)), ("glibcsince", list_since(entries))):
        texts[file] = "".join(f"{key}:\n{fill(symbols)}" for key, symbols in groups.items())
    if not all(symbols >= _CERTAIN for symbols in names.values()):
        raise SystemExit("ziglang has its names in another form")
    stale = 0
    for name, body in texts.items():
        text = f"# Written by generate/libc_symbols.py from ziglang {version('ziglang')}; do not edit.\n{body}"
        path = FOLDER / f"{name}.txt"
        if check and (not path.is_file() or path.read_text("utf-8") != text):
            print(f"{path.name} differs: run python -m generate.libc_symbols")
            stale = 1
        elif not check:
            path.write_text(text, "utf-8")
    return stale


def fill(symbols: set[str]) -> str:
    """Names as lines of at most 120 characters."""
    return textwrap.fill(" ".join(sorted(symbols)), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def list_since(entries: list[Symbol]) -> dict[str, set[str]]:
    """The names that no glibc before 2.18 has, by the version that first has them on any processor."""
    first: dict[str, tuple[int, ...]] = {}
    for name, _, _, since in entries:
        first[name] = min(since, first.get(name, since))
    newer = sorted({since for since in first.values() if since > _OLDEST})
    return {".".join(map(str, since)): {name for name, version in first.items() if version == since} for since in newer}


def list_libm(entries: list[Symbol]) -> dict[str, set[str]]:
    """The names of libm.so.6 that no other library of glibc has: on all processors (`*`), and on one."""
    alone: dict[str, set[str]] = {}
    for arch, target in _ARCHS.items():
        libraries: dict[str, set[str]] = {}
        for name, library, targets, _ in entries:
            if target in targets:
                libraries.setdefault(name, set()).add(library)
        alone[arch] = {name for name, holders in libraries.items() if holders == {"m"}}
    common = set.intersection(*alone.values())
    return {"*": common} | {arch: names - common for arch, names in alone.items() if names - common}


def list_glibc(data: bytes) -> list[Symbol]:
    """The symbols in zig's list, each with a library, its targets and the first version there.

    First come libraries, versions and targets, then functions, and objects with a size.
    """
    rest = _Bytes(data)
    libraries = [rest.text() for _ in range(rest.byte())]
    versions = [(rest.byte(), rest.byte(), rest.byte())[:2] for _ in range(rest.byte())]
    targets = [rest.text() for _ in range(rest.byte())]
    entries: list[Symbol] = []
    for numbers in (1, 2):  # targets as bits; of an object its size, too
        name = ""
        for _ in range(int.from_bytes(rest.take(2), "little")):
            name = name or rest.text()
            bits, *_ = [rest.number() for _ in range(numbers)]
            library = rest.byte()
            indices = [rest.byte()]
            while not indices[-1] & _LAST:
                indices.append(rest.byte())
            if name.isidentifier():
                on = frozenset(target for index, target in enumerate(targets) if bits >> index & 1)
                since = min(versions[index & ~_LAST] for index in indices)
                entries.append((name, libraries[library & ~_LAST], on, since))
            if library & _LAST:
                name = ""
    return entries


class _Bytes:
    """Bytes that are read from the front."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def byte(self) -> int:
        return self.take(1)[0]

    def text(self) -> str:
        text = self.take(self._data.index(0, self._at) - self._at).decode("ascii")
        self.take(1)
        return text

    def number(self) -> int:
        """A number in groups of seven bits, the lowest first (LEB128)."""
        value, shift = 0, 0
        while True:
            part = self.byte()
            value |= (part & ~_LAST) << shift
            shift += 7
            if not part & _LAST:
                return value


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

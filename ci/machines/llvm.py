"""LLVM's tools under the names that macOS gives its own, for programs that call those: delocate on another system.

    python -m ci.machines.llvm DEST    # makes DEST/bin with otool, lipo, install_name_tool; prints it

Taken from this machine where it has them, else from Debian's packages, unpacked and not installed (`debian.py`).
"""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from ci.machines import make_once, print_made
from ci.machines.debian import unpack

_LIBRARIES = ("libedit2", "libbsd0", "libmd0", "libz3-4", "libtinfo6", "libxml2", "libicu72")
PACKAGES = ("llvm-14", "libllvm14", *_LIBRARIES)
_NEWER = ("llvm-16", "libllvm16", *_LIBRARIES)
"""The first that reads chained fixups."""
TOOLS = {"otool": "llvm-otool", "lipo": "llvm-lipo", "install_name_tool": "llvm-install-name-tool"}
# llvm-otool does not know -m, which asks only that a name with parentheses is not taken for an archive's member.
_WITHOUT_M = 'for word; do shift; [ "$word" = -m ] || set -- "$@" "$word"; done\n'


def prepare(dest: Path) -> Path:
    """The folder with the three tools. Raises NotAvailableError when they are neither here nor to be had."""
    if sys.platform == "darwin" and (otool := shutil.which("otool")):
        return Path(otool).parent
    tools = {name: _find(tool) for name, tool in TOOLS.items()}
    libraries = ""
    if not all(tools.values()):
        root = make_once(dest.absolute() / "root", lambda folder: unpack(PACKAGES, folder))
        tools = {name: str(root / "usr/lib/llvm-14/bin" / tool) for name, tool in TOOLS.items()}
        libraries = f"LD_LIBRARY_PATH={shlex.quote(str(root / 'usr/lib/x86_64-linux-gnu'))} "
    folder = dest.absolute() / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for name, tool in tools.items():
        script = f'#!/bin/sh\n{_WITHOUT_M if name == "otool" else ""}{libraries}exec {shlex.quote(str(tool))} "$@"\n'
        (folder / name).write_text(script, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def _find(program: str) -> str | None:
    """A program on PATH, also with LLVM's version in its name (llvm-nm-14)."""
    versions = ("", *(f"-{number}" for number in range(30, 13, -1)))
    return next(filter(None, (shutil.which(program + version) for version in versions)), None)


def prepare_objdump(dest: Path) -> list[str]:
    """The command that starts LLVM 16's objdump. Raises NotAvailableError when it cannot be had."""
    root = make_once(dest.absolute() / "llvm-16", lambda folder: unpack(_NEWER, folder))
    libraries = f"LD_LIBRARY_PATH={root / 'usr/lib/x86_64-linux-gnu'}"
    return ["/usr/bin/env", libraries, str(root / "usr/lib/llvm-16/bin/llvm-objdump")]


if __name__ == "__main__":
    sys.exit(print_made(prepare))

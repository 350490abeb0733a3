"""LLVM in the place of Visual C++: clang-cl and its linker, librarian and tools, for CMake. Without Microsoft's SDK.

    python -m ci.machines.clang_cl DEST    # makes DEST/root/bin with clang-cl, lld-link, llvm-lib and others; prints it

They are Debian's packages, unpacked and not installed (`debian.py`). What they compile needs headers of its own.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from ci.machines import make_once, print_made
from ci.machines.debian import unpack
from ci.machines.llvm import PACKAGES

_PACKAGES = (*PACKAGES, "clang-14", "libclang-cpp14", "libclang1-14", "libclang-common-14-dev", "lld-14")
TOOLS = {"clang-cl": "clang", "lld-link": "lld", "llvm-lib": "llvm-ar", "llvm-mt": "llvm-mt", "llvm-rc": "llvm-rc"}
"""The name of each, by which it knows what to do, and the program that it is."""


def prepare(dest: Path) -> Path:
    """The folder with the tools. Raises NotAvailableError when they are not to be had."""
    root = dest.absolute() / "root"
    return make_once(root, lambda folder: _make(folder, root), stamp=" ".join(_PACKAGES)) / "bin"


def headers(folder: Path) -> Path:
    """The compiler's own headers (stddef.h, stdint.h), for the tools in a folder."""
    return next(folder.parent.glob("usr/lib/llvm-14/lib/clang/*/include"))


def _make(folder: Path, final: Path) -> None:
    """Unpack the packages into a folder that will be renamed to `final`, and write a script for each tool."""
    unpack(_PACKAGES, folder)
    programs, scripts = Path("usr/lib/llvm-14/bin"), folder / "bin"
    libraries = shlex.quote(str(final / "usr/lib/x86_64-linux-gnu"))
    scripts.mkdir(exist_ok=True)
    for name, program in TOOLS.items():
        if not (folder / programs / name).exists():
            (folder / programs / name).symlink_to(program)
        script = f'#!/bin/sh\nLD_LIBRARY_PATH={libraries} exec {shlex.quote(str(final / programs / name))} "$@"\n'
        (scripts / name).write_text(script, encoding="utf-8")
        (scripts / name).chmod(0o755)


def cmake_definitions(folder: Path, arch: str) -> list[str]:
    """CMake arguments for a Windows target on this processor, with the tools in a folder."""
    tools = {"LINKER": "lld-link", "AR": "llvm-lib", "MT": "llvm-mt", "RC_COMPILER": "llvm-rc"}
    tools |= dict.fromkeys(("C_COMPILER", "CXX_COMPILER"), "clang-cl")
    values = {
        "SYSTEM_NAME": "Windows",
        "SYSTEM_PROCESSOR": arch,
        **dict.fromkeys(("C_COMPILER_TARGET", "CXX_COMPILER_TARGET"), f"{arch}-pc-windows-msvc"),
        # No library of Microsoft's is here, so CMake's own checks don't link.
        "TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY",
        **{name: str(folder / tool) for name, tool in tools.items()},
    }
    return [f"-DCMAKE_{name}={value}" for name, value in values.items()]


if __name__ == "__main__":
    sys.exit(print_made(prepare))

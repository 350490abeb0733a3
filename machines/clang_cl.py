"""LLVM in the place of Visual C++: clang-cl and its linker, librarian and tools, for CMake. Without Microsoft's SDK.

    python -m machines.clang_cl DEST    # makes DEST/bin with clang-cl, lld-link, llvm-lib, llvm-mt, llvm-rc; prints it

They are Debian's packages, unpacked and not installed (machines/debian.py). What they compile needs headers of its own.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from machines import make_once, print_made
from machines.debian import unpack
from machines.llvm import PACKAGES

_PACKAGES = (*PACKAGES, "clang-14", "libclang-cpp14", "libclang1-14", "libclang-common-14-dev", "lld-14")
TOOLS = {"clang-cl": "clang", "lld-link": "lld", "llvm-lib": "llvm-ar", "llvm-mt": "llvm-mt", "llvm-rc": "llvm-rc"}
"""The name of each, by which it knows what to do, and the program that it is."""


def prepare(dest: Path) -> Path:
    """The folder with the tools. Raises NotAvailableError when they are not to be had."""
    root = make_once(dest.absolute() / "root", lambda folder: unpack(_PACKAGES, folder))
    libraries, programs = root / "usr/lib/x86_64-linux-gnu", root / "usr/lib/llvm-14/bin"
    folder = dest.absolute() / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    for name, program in TOOLS.items():
        link = programs / name
        if not link.exists():
            link.symlink_to(program)
        script = f'#!/bin/sh\nLD_LIBRARY_PATH={shlex.quote(str(libraries))} exec {shlex.quote(str(link))} "$@"\n'
        (folder / name).write_text(script, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


def cmake_definitions(folder: Path, arch: str) -> list[str]:
    """CMake arguments for a Windows target on this processor, with the tools in a folder."""
    tools = {
        "C_COMPILER": "clang-cl",
        "LINKER": "lld-link",
        "AR": "llvm-lib",
        "MT": "llvm-mt",
        "RC_COMPILER": "llvm-rc",
    }
    values = {
        "SYSTEM_NAME": "Windows",
        "SYSTEM_PROCESSOR": arch,
        "C_COMPILER_TARGET": f"{arch}-pc-windows-msvc",
        # No library of Microsoft's is here, so CMake's own checks don't link.
        "TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY",
        **{name: str(folder / tool) for name, tool in tools.items()},
    }
    return [f"-DCMAKE_{name}={value}" for name, value in values.items()]


if __name__ == "__main__":
    sys.exit(print_made(prepare))

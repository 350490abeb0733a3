"""Makes an arm64 Linux CPython for tests from Debian's packages, and a launcher that runs it under qemu.

    python -m ci.arm64_python DEST    # makes DEST/root with usr/bin/python, prints that launcher

The launcher is a script, so that the Python can start itself again (`sys.executable`) and links to it make virtual
environments, without binfmt. Nothing is installed (ci/debian.py).
"""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from ci import qemu
from ci.debian import made_once, print_made, unpack

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = (
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"),
    *("libc6", "libgcc-s1", "libstdc++6", "zlib1g", "libexpat1", "libssl3", "libffi8", "libbz2-1.0", "liblzma5"),
    *("libuuid1", "libsqlite3-0", "libdb5.3", "libreadline8", "libtinfo6", "media-types"),
)
_INTERPRETER = "usr/bin/python3.11"


def prepare(dest: Path) -> Path:
    """The launcher of the Python in `dest`, made when it is not there yet. The root serves `qemu.prepare()`, too.

    Raises NotAvailableError without qemu, apt-get or a mirror.
    """
    emulator = qemu.find()
    return (
        made_once(dest.absolute() / "root", lambda folder: _make(folder, dest.absolute(), emulator)) / "usr/bin/python"
    )


def _make(folder: Path, dest: Path, emulator: Path) -> None:
    unpack(PACKAGES, folder, suite=qemu.SUITE, architecture="arm64")
    qemu.add_processors(folder)
    launcher = folder / "usr/bin/python"
    root = dest / "root"
    # argv[0] is how Python knows itself: with the launcher's own name it finds a pyvenv.cfg and starts itself again.
    words = [str(emulator), "-cpu", "max", "-L", str(root), "-0"]
    command = f'exec {shlex.join(words)} "$0" {shlex.quote(str(root / _INTERPRETER))} "$@"'
    launcher.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    launcher.chmod(0o755)


if __name__ == "__main__":
    sys.exit(print_made(prepare))

"""Makes an arm64 Linux CPython for tests from Debian's packages, and a launcher that runs it under qemu.

The launcher is a script, so that the Python can start itself again (`sys.executable`) and links to it make virtual
environments, without binfmt.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from machines import make_once, qemu
from machines.debian import unpack

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = (
    *("python3.11-minimal", "libpython3.11-minimal", "libpython3.11-stdlib"),
    *("libc6", "libgcc-s1", "libstdc++6", "zlib1g", "libexpat1", "libssl3", "libffi8", "libbz2-1.0", "liblzma5"),
    *("libuuid1", "libsqlite3-0", "libdb5.3", "libreadline8", "libtinfo6", "media-types"),
)


def prepare(dest: Path) -> Path:
    """The launcher of the Python in `dest`, made when it is not there yet. The root serves `qemu.prepare()`, too.

    Raises NotAvailableError without qemu, apt-get or a mirror.
    """
    emulator, root = qemu.find(), dest.absolute() / "root"

    def make(folder: Path) -> None:
        unpack(PACKAGES, folder, architecture="arm64")
        qemu.add_processors(folder)
        launcher = folder / "usr/bin/python"
        # argv[0] is how Python knows itself: by the launcher's own name it finds a pyvenv.cfg and starts itself again.
        start = shlex.join([str(emulator), "-cpu", "max", "-L", str(root), "-0"])
        command = f'exec {start} "$0" {shlex.quote(str(root / "usr/bin/python3.11"))} "$@"'
        launcher.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        launcher.chmod(0o755)

    return make_once(root, make) / "usr/bin/python"

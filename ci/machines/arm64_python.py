"""Makes an arm64 Linux CPython for tests from Debian's packages, and a launcher that runs it under qemu.

The launcher is a script, so that the Python can start itself again (`sys.executable`) and links to it make virtual
environments, without binfmt.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from ci.machines import make_once, qemu
from ci.machines.debian import unpack

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "3.11"
"""The one that `latebind verify` uses; 3.13 can be made, too."""
_SUITES = {"3.11": "bookworm", "3.13": "trixie"}
_SHARED = (
    *("libc6", "libgcc-s1", "libstdc++6", "zlib1g", "libexpat1", "libffi8", "libbz2-1.0", "liblzma5", "libuuid1"),
    *("libsqlite3-0", "libdb5.3", "libtinfo6", "media-types"),
)
_OWN = {"3.11": ("libssl3", "libreadline8"), "3.13": ("libssl3t64", "libreadline8t64", "libdb5.3t64")}


def list_packages(version: str) -> tuple[str, ...]:
    """The packages of a CPython and of the libraries that its standard library needs."""
    python = (f"python{version}-minimal", f"libpython{version}-minimal", f"libpython{version}-stdlib")
    shared = (name for name in _SHARED if f"{name}t64" not in _OWN[version])
    return (*python, *shared, *_OWN[version])


def prepare(dest: Path, version: str = VERSION) -> Path:
    """The launcher of the Python in `dest`, made when it is not there yet. The root serves `qemu.prepare()`, too.

    Raises NotAvailableError without qemu, apt-get or a mirror.
    """
    emulator, root = qemu.find(), dest.absolute() / "root"

    def make(folder: Path) -> None:
        unpack(list_packages(version), folder, suite=_SUITES[version], architecture="arm64")
        if not (folder / "lib").exists():  # Debian's base-files, which are not unpacked, have the link
            (folder / "lib").symlink_to("usr/lib")
        qemu.add_processors(folder)
        launcher = folder / "usr/bin/python"
        # argv[0] is how Python knows itself: by the launcher's own name it finds a pyvenv.cfg and starts itself again.
        start = shlex.join([str(emulator), "-cpu", qemu.ARM64, "-L", str(root), "-0"])
        command = f'exec {start} "$0" {shlex.quote(str(root / f"usr/bin/python{version}"))} "$@"'
        launcher.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
        launcher.chmod(0o755)

    return make_once(root, make) / "usr/bin/python"

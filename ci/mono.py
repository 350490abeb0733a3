"""Makes a Mono with .NET Framework's reference assemblies for this project's tests on Linux x64; installs nothing.

    python -m ci.mono DEST    # makes it; prints the folder to put on PATH

Taken from Debian's packages, unpacked (ci/debian.py). A `mono` on PATH is always to be preferred, and then nothing is
done.
"""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

from ci.debian import NotAvailableError, made_once, print_made, unpack

SUITE = "bookworm"
PACKAGES = (
    "mono-runtime-sgen",
    "mono-runtime-common",
    "mono-devel",  # the reference assemblies
    "libmono-corlib4.5-dll",
    "libmono-posix4.0-cil",
    "libmono-security4.0-cil",
    "libmono-system-configuration4.0-cil",
    "libmono-system-core4.0-cil",
    "libmono-system-numerics4.0-cil",
    "libmono-system-runtime-serialization4.0-cil",
    "libmono-system-security4.0-cil",
    "libmono-system-servicemodel-internals0.0-cil",
    "libmono-system-xml-linq4.0-cil",
    "libmono-system-xml4.0-cil",
    "libmono-system4.0-cil",
)
REFERENCES = "lib/mono/4.7.2-api"
# Mono finds its libraries by where it lies itself, its settings only below /etc.
_START = """#!/bin/sh
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
MONO_CFG_DIR="$root/etc" exec "$root/usr/bin/mono-sgen" "$@"
"""


def prepare(dest: Path) -> Path:
    """The folder with `mono`, whose libraries and reference assemblies are relative to it, in ../lib/mono.

    Raises NotAvailableError on another system or processor, and without apt-get or a mirror.
    """
    own = shutil.which("mono")
    if own and (Path(own).resolve().parent.parent / REFERENCES).is_dir():
        return Path(own).parent
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise NotAvailableError(f"this machine is {sys.platform} {platform.machine()}, Debian's packages are for amd64")
    return made_once(dest.absolute(), _make) / "bin"


def _make(folder: Path) -> None:
    unpack(PACKAGES, folder, suite=SUITE, architecture="amd64")
    start = folder / "usr/bin/mono"
    start.write_text(_START, encoding="utf-8")
    start.chmod(0o755)
    (folder / "bin").mkdir()  # alone, without the compilers and tools next to it
    (folder / "bin/mono").symlink_to("../usr/bin/mono")


if __name__ == "__main__":
    sys.exit(print_made(prepare))

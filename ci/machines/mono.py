"""Makes a Mono with .NET Framework's reference assemblies for this project's tests on Linux x64.

Taken from Debian's packages, unpacked (debian.py). A `mono` on PATH is always to be preferred, and then nothing is
done.
"""

from __future__ import annotations

import platform
import shutil
import sys
from pathlib import Path

from ci.machines import NotAvailableError, Ready, make_once
from ci.machines.debian import unpack

_LIBRARIES = (
    *("corlib4.5-dll", "posix4.0-cil", "security4.0-cil", "system-configuration4.0-cil", "system-core4.0-cil"),
    *("system-numerics4.0-cil", "system-runtime-serialization4.0-cil", "system-security4.0-cil"),
    *("system-servicemodel-internals0.0-cil", "system-xml-linq4.0-cil", "system-xml4.0-cil", "system4.0-cil"),
)
# mono-devel has the reference assemblies.
PACKAGES = ("mono-runtime-sgen", "mono-runtime-common", "mono-devel", *(f"libmono-{name}" for name in _LIBRARIES))
REFERENCES = "lib/mono/4.7.2-api"
# Mono finds its libraries by where it lies itself, its settings only below /etc.
_START = """#!/bin/sh
root=$(dirname "$(dirname "$(dirname "$(readlink -f "$0")")")")
MONO_CFG_DIR="$root/etc" exec "$root/usr/bin/mono-sgen" "$@"
"""


def prepare(dest: Path) -> Ready:
    """A folder with `mono`, whose libraries and reference assemblies are relative to it, in ../lib/mono.

    Raises NotAvailableError on another system or processor, and without apt-get or a mirror.
    """
    program = shutil.which("mono")
    if program and (Path(program).resolve().parent.parent / REFERENCES).is_dir():
        return Ready("mono on PATH", Path(program).parent)
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise NotAvailableError(f"this machine is {sys.platform} {platform.machine()}, Debian's packages are for amd64")
    return Ready("Debian's mono", make_once(dest.absolute(), _make) / "bin")


def _make(folder: Path) -> None:
    unpack(PACKAGES, folder, architecture="amd64")
    start = folder / "usr/bin/mono"
    start.write_text(_START, encoding="utf-8")
    start.chmod(0o755)
    (folder / "bin").mkdir()  # alone, without the compilers and tools next to it
    (folder / "bin/mono").symlink_to("../usr/bin/mono")

"""Makes a JDK of Java 25 for this project's tests on Linux x64, where the system's is older.

Taken from Debian 13's packages, unpacked (debian.py), with the C library that they need: older systems have none, so
that library's own loader starts the programs. An image of jlink would start without it, so there is no jlink. A
`javac` on PATH that is new enough is always to be preferred.
"""

from __future__ import annotations

import platform
import re
import shutil
import sys
from typing import TYPE_CHECKING

from ci.machines import NotAvailableError, Ready, make_once, run_tool
from ci.machines.debian import unpack

if TYPE_CHECKING:
    from pathlib import Path

NEEDED = 22
"""The first Java that calls native code without JNI."""
SUITE = "trixie"
NAME = "java-25-openjdk"
PACKAGES = ("openjdk-25-jre-headless", "openjdk-25-jdk-headless", "libc6")
_START = """#!/bin/sh
root=$(dirname "$(dirname "$(readlink -f "$0")")")
exec "$root/{loader}" --argv0 "$0" --library-path "$root/{libraries}" "$root/{program}" "$@"
"""


def prepare(dest: Path) -> Ready:
    """A folder with `java`, `javac` and `jdeps`.

    Raises NotAvailableError on another system or processor, and without apt-get or a mirror.
    """
    compiler = shutil.which("javac")
    if compiler and _read_major(compiler) >= NEEDED:
        return Ready("javac on PATH")
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        raise NotAvailableError(f"this machine is {sys.platform} {platform.machine()}, Debian's packages are for amd64")
    folder = make_once(dest.absolute(), _make)
    return Ready("Debian's JDK 25", folder / "bin", {"JAVA_HOME": str(folder)})


def _read_major(compiler: str) -> int:
    match = re.match(r"javac (\d+)", run_tool([compiler, "-version"]))
    return int(match[1]) if match else 0


def _make(folder: Path) -> None:
    unpack(PACKAGES, folder, suite=SUITE, architecture="amd64")
    home = folder / f"usr/lib/jvm/{NAME}-amd64"
    settings = folder / "etc" / NAME
    shutil.copyfile(settings / "jvm-amd64.cfg", _without_link(home / "lib/jvm.cfg"))
    shutil.copytree(settings, _without_link(home / "conf"))
    libraries = "usr/lib/x86_64-linux-gnu"
    (folder / "bin").mkdir()
    for name in ("java", "javac", "jdeps"):
        start = folder / "bin" / name
        program = (home / "bin" / name).relative_to(folder)
        text = _START.format(loader=f"{libraries}/ld-linux-x86-64.so.2", libraries=libraries, program=program)
        start.write_text(text, encoding="utf-8")
        start.chmod(0o755)
    run_tool([folder / "bin/javac", "-version"])


def _without_link(path: Path) -> Path:
    """A path of settings, without the link to the system's own that packages have there."""
    if path.is_symlink():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    return path

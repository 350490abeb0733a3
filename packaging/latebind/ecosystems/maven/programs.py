"""The programs that compile and run Java, and where they are."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from latebind.ecosystems.ecosystem import NeededProgram
from latebind.ecosystems.maven.config import OLDEST_JAVA
from latebind.errors import NotRun
from latebind.system.programs import which
from latebind.system.run import run

_TIME_LIMIT = 60.0
_VERSION = re.compile(r"^javac (?:1\.)?(?P<major>\d+)")
"""Java 8 and older call themselves 1.8."""

PROGRAMS = (
    NeededProgram(
        names=("java", "javac"),
        detail="JARs are neither made nor verified without a JDK",
        fix="Install a JDK, 11 or newer (Debian: apt install default-jdk-headless).",
    ),
)


def find_jdk(oldest: int, environment: Mapping[str, str] = os.environ) -> Path:
    """The folder with `javac` and `java`: that of JAVA_HOME, else the one on PATH.

    Raises NotRun `no-program` without a JDK, and with one that is older than `oldest`.
    """
    home, newer = environment.get("JAVA_HOME", ""), f"Install JDK {oldest} or newer, and set JAVA_HOME."
    compiler = which("javac", path=str(Path(home, "bin"))) if home else which("javac", path=environment.get("PATH"))
    if compiler is None:
        where = f"in JAVA_HOME ({home})" if home else "on PATH"
        advice = PROGRAMS[0].fix if oldest <= OLDEST_JAVA else newer
        raise NotRun("no-program", f"there is no javac {where}", advice=advice)
    major = read_major(compiler)
    if major < oldest:
        actual = f"is from Java {major}" if major else "does not report its version"
        raise NotRun("no-program", f"Java {oldest} or newer is needed, but {compiler} {actual}", advice=newer)
    return compiler.parent


@cache
def read_major(compiler: Path) -> int:
    """The major version of a `javac`; 0 where it does not say."""
    match = _VERSION.match(run([compiler, "-version"], timeout=_TIME_LIMIT, check=False).output)
    return int(match["major"]) if match else 0

"""Runs programs that were built for musl on a machine of another C library: musl's own loader out of Debian's package.

The loader is the C library as well, so one file is a whole musl system for a program that needs nothing else.
Nothing is installed (ci/debian.py).
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confine import Group, Limits
from debian import NotAvailableError, made_once, unpack

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping
    from pathlib import Path

SUITE = "bookworm"
LOADER = "lib/x86_64-linux-musl/libc.so"
_OURS = ("LANG", "LC_ALL", "TMPDIR")


@dataclass
class Musl:
    """musl's loader, and the processes that it runs. Close it when done."""

    loader: Path
    group: Group

    def run(
        self,
        program: Path,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        feed: bytes = b"",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program that was built for musl. Raises LimitError."""
        kept = {name: os.environ[name] for name in _OURS if name in os.environ}
        return self.group.run([self.loader, program, *words], {**kept, **(env or {})}, cwd=cwd, feed=feed)

    def close(self) -> None:
        """End all that still runs because of us."""
        self.group.close()


def prepare(dest: Path, limits: Limits | None = None) -> Musl:
    """musl, unpacked to `dest` when it is not there yet.

    Raises NotAvailableError on another processor, and without apt-get or a mirror.
    """
    if platform.machine() != "x86_64":
        raise NotAvailableError(f"this machine is {platform.machine()}, the programs are for x86_64")
    root = made_once(dest.absolute(), lambda folder: unpack(["musl"], folder, suite=SUITE, architecture="amd64"))
    return Musl(root / LOADER, Group(limits))

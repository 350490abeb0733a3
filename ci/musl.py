"""Runs programs that were built for musl on a machine of another C library: musl's own loader out of Debian's package.

The loader is the C library as well, so one file is a whole musl system for a program that needs nothing else.
Nothing is installed (ci/debian.py).
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci.confine import Group, Limits, Machine
from ci.debian import NotAvailableError, made_once, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SUITE = "bookworm"
LOADER = "lib/x86_64-linux-musl/libc.so"
_OURS = ("LANG", "LC_ALL", "TMPDIR")


@dataclass
class Musl(Machine):
    """musl's loader, and the processes that it runs."""

    loader: Path
    group: Group

    def command(
        self, program: Path, words: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """musl's loader runs the program, in the environment that it gets."""
        kept = {name: os.environ[name] for name in _OURS if name in os.environ}
        return [self.loader, program, *words], {**kept, **env}


def prepare(dest: Path, limits: Limits | None = None) -> Musl:
    """musl, unpacked to `dest` when it is not there yet.

    Raises NotAvailableError on another processor, and without apt-get or a mirror.
    """
    if platform.machine() != "x86_64":
        raise NotAvailableError(f"this machine is {platform.machine()}, the programs are for x86_64")
    root = made_once(dest.absolute(), lambda folder: unpack(["musl"], folder, suite=SUITE, architecture="amd64"))
    return Musl(root / LOADER, Group(limits))

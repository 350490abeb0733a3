"""Runs programs that were built for musl on a machine of another C library: musl's own loader out of Debian's package.

The loader is the C library as well, so one file is a whole musl system for a program that needs nothing else.
"""

from __future__ import annotations

import contextlib
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from machines import NotAvailableError, make_once
from machines.debian import unpack
from machines.emulator import Emulator, Group, Limits, inherit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

LOADER = "lib/x86_64-linux-musl/libc.so"


@dataclass
class Musl(Emulator):
    """musl's loader, and the processes that it runs."""

    loader: Path

    def command(
        self, program: Path, arguments: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """musl's loader runs the program, in the environment that it gets."""
        return [self.loader, program, *arguments], {**inherit("LANG", "LC_ALL", "TMPDIR"), **env}


@contextlib.contextmanager
def open_machine(dest: Path, limits: Limits | None = None) -> Iterator[Musl]:
    """The machine of a folder; all that it runs ends with the block."""
    emulator = prepare(dest, limits)
    try:
        yield emulator
    finally:
        emulator.close()


def prepare(dest: Path, limits: Limits | None = None) -> Musl:
    """musl, unpacked to `dest` when it is not there yet.

    Raises NotAvailableError on another processor, and without apt-get or a mirror.
    """
    if platform.machine() != "x86_64":
        raise NotAvailableError(f"this machine is {platform.machine()}, the programs are for x86_64")
    root = make_once(dest.absolute(), lambda folder: unpack(["musl"], folder, architecture="amd64"))
    return Musl(Group(limits), root / LOADER)

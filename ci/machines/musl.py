"""Runs programs that were built for musl on a machine of another C library: musl's own loader out of Debian's package.

The loader is the C library as well, so one file is a whole musl system for a program that needs nothing else. qemu runs
that of another processor.
"""

from __future__ import annotations

import contextlib
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ci.machines import NotAvailableError, make_once, qemu
from ci.machines.debian import unpack
from ci.machines.emulator import Emulator, Group, Limits, inherit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Kind:
    """A musl for a processor: Debian's names of that, and what runs its programs here."""

    architecture: str
    triplet: str
    machine: str
    """The machine that needs no emulator for it."""
    emulator: str


KINDS = {
    "linux-musl-x64": Kind("amd64", "x86_64-linux-musl", "x86_64", ""),
    "linux-musl-arm64": Kind("arm64", "aarch64-linux-musl", "aarch64", "linux-arm64"),
}
"""By target."""


@dataclass
class Musl(Emulator):
    """musl's loader, and the processes that it runs."""

    loader: Path
    emulator: Path | None = None

    def command(
        self, program: Path, arguments: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """musl's loader runs the program, in the environment that it gets."""
        kept = inherit("LANG", "LC_ALL", "TMPDIR")
        if self.emulator is None:
            return [self.loader, program, *arguments], {**kept, **env}
        variables = [option for name, value in env.items() for option in ("-E", f"{name}={value}")]
        return [self.emulator, *variables, self.loader, program, *arguments], kept


@contextlib.contextmanager
def open_machine(dest: Path, limits: Limits | None = None, rid: str = "linux-musl-x64") -> Iterator[Musl]:
    """The machine of a folder; all that it runs ends with the block."""
    emulator = prepare(dest, limits, rid)
    try:
        yield emulator
    finally:
        emulator.close()


def prepare(dest: Path, limits: Limits | None = None, rid: str = "linux-musl-x64") -> Musl:
    """musl, unpacked to `dest` when it is not there yet.

    Raises NotAvailableError on another processor without qemu for it, and without apt-get or a mirror.
    """
    kind = KINDS[rid]
    emulator = None
    if platform.machine() != kind.machine:
        if not kind.emulator:
            raise NotAvailableError(f"this machine is {platform.machine()}, the programs are for {kind.machine}")
        emulator = qemu.find(kind.emulator)
    root = make_once(dest.absolute(), lambda folder: unpack(["musl"], folder, architecture=kind.architecture))
    return Musl(Group(limits), root / "lib" / kind.triplet / "libc.so", emulator)

"""Makes a Linux of another processor for tests: a folder with Debian's libraries, and a way to run programs in it.

    apt-get install --no-install-recommends qemu-user-static

Nothing outside the folder is written (debian.py). binfmt is not needed. It is an emulator: numbers count, times do not.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.machines import NotAvailableError, make_once
from ci.machines.debian import unpack
from ci.machines.emulator import Emulator, Group, Limits, inherit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_C = ("libc6", "libgcc-s1", "libstdc++6")
# ONNX Runtime has no packages of its own for these processors. Debian has.
_ORT = (
    *("libonnxruntime1.21", "libonnx1t64", "libprotobuf32t64", "libre2-11", "libabsl20240722", "zlib1g"),
    *("libcpuinfo0", "libpthreadpool0", "libxnnpack0.20241108"),
)


@dataclass(frozen=True)
class Debian:
    """A Debian that qemu runs: its name of the processor, qemu's, and what is unpacked."""

    architecture: str
    emulator: str
    suite: str
    packages: tuple[str, ...]
    cpu: str = "max"
    """qemu's model of a processor."""


ARM64 = "max,pauth-impdef=on"
"""With a hash of qemu's own for signed return addresses: Arm leaves it open, and QARMA takes a sixth of all time."""
SYSTEMS = {
    "linux-arm64": Debian("arm64", "qemu-aarch64", "bookworm", _C, cpu=ARM64),
    "linux-arm": Debian("armhf", "qemu-arm", "trixie", (*_C, *_ORT)),
    "linux-riscv64": Debian("riscv64", "qemu-riscv64", "trixie", (*_C, *_ORT[:6]), "rv64"),
}
MISLEADING = ("LD_", "QEMU_")
"""How variables of this system begin that name what a program of another processor cannot load."""
# ONNX Runtime reads the processors' kind from here and cannot make sense of the host's; it wants one for each number
# that the kernel may run it on. qemu looks in its root first.
CPUINFO = """\
processor\t: {number}
BogoMIPS\t: 100.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: 0xd0c
CPU revision\t: 1
"""


def find(rid: str = "linux-arm64") -> Path:
    """The emulator. Raises NotAvailableError with the command that provides it."""
    emulator = SYSTEMS[rid].emulator
    program = shutil.which(f"{emulator}-static") or shutil.which(emulator)
    if program is None:
        raise NotAvailableError("qemu is missing: apt-get install --no-install-recommends qemu-user-static")
    return Path(program)


@dataclass
class Qemu(Emulator):
    """A root folder that is ready, and the processes that run with it."""

    emulator: Path
    root: Path
    cpu: str

    def command(
        self, program: Path, arguments: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """The emulator runs the program; `env` reaches that alone and not the emulator.

        A script names its own interpreter, which may be a launcher of ours (arm64_python.py): the kernel starts it.
        """
        if is_script(program):
            return [program, *arguments], dict(env)
        variables = [option for name, value in env.items() for option in ("-E", f"{name}={value}")]
        command = [self.emulator, "-cpu", self.cpu, "-L", self.root, *variables, program, *arguments]
        return command, inherit("LANG", "LC_ALL", "TMPDIR")


def is_script(program: Path) -> bool:
    """Whether the file begins as a script does."""
    with program.open("rb") as stream:
        return stream.read(2) == b"#!"


def prepare(dest: Path, limits: Limits | None = None, rid: str = "linux-arm64") -> Qemu:
    """The root folder in `dest`, made when it is not there yet.

    Raises NotAvailableError without qemu, apt-get or a mirror.
    """
    system = SYSTEMS[rid]

    def make(root: Path) -> None:
        unpack(system.packages, root, suite=system.suite, architecture=system.architecture)
        if not (root / "lib").exists():
            (root / "lib").symlink_to("usr/lib")  # as base-files makes it
        if rid == "linux-arm64":
            add_processors(root)

    return Qemu(Group(limits), find(rid), make_once(dest.absolute() / "root", make), system.cpu)


@contextlib.contextmanager
def open_arm64(dest: Path, limits: Limits | None = None) -> Iterator[Qemu]:
    """The arm64 of a folder; all that it runs ends with the block."""
    emulator = prepare(dest, limits)
    try:
        yield emulator
    finally:
        emulator.close()


def add_processors(root: Path) -> None:
    """Describe this machine's processors as arm64 ones, for programs that look."""
    (root / "proc").mkdir()
    processors = (CPUINFO.format(number=number) for number in range(os.cpu_count() or 1))
    (root / "proc" / "cpuinfo").write_text("\n".join(processors), encoding="ascii")

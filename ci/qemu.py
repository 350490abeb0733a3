"""Makes a Linux of another processor for tests: a folder with Debian's libraries, and a way to run programs in it.

    apt-get install --no-install-recommends qemu-user-static
    python -m ci.qemu DEST                 # makes the folder for arm64, prints where it and qemu are
    python -m ci.qemu DEST program WORD... # and runs a program, with limits; ends all of it afterwards

Nothing is installed and nothing outside DEST is written (ci/debian.py). binfmt is not needed. It is an emulator:
numbers count, times do not.
"""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci import serving
from ci.confine import Group, Limits, Machine
from ci.debian import NotAvailableError, made_once, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


SYSTEMS = {
    "linux-arm64": Debian("arm64", "qemu-aarch64", "bookworm", _C),
    "linux-arm": Debian("armhf", "qemu-arm", "trixie", (*_C, *_ORT)),
    "linux-riscv64": Debian("riscv64", "qemu-riscv64", "trixie", (*_C, *_ORT[:6]), "rv64"),
}
SUITE = SYSTEMS["linux-arm64"].suite
_OURS = ("LANG", "LC_ALL", "TMPDIR")
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
    for name in (f"{emulator}-static", emulator):
        path = shutil.which(name)
        if path:
            return Path(path)
    raise NotAvailableError("qemu is missing: apt-get install --no-install-recommends qemu-user-static")


@dataclass
class Qemu(Machine):
    """A root folder that is ready, and the processes that run with it."""

    emulator: Path
    root: Path
    group: Group
    cpu: str

    def command(
        self, program: Path, words: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """The emulator runs the program; `env` reaches that alone and not the emulator.

        A script names its own interpreter, which may be a launcher of ours (arm64_python.py): the kernel starts it.
        """
        if is_script(program):
            return [program, *words], dict(env)
        kept = {name: os.environ[name] for name in _OURS if name in os.environ}
        given = [word for name, value in env.items() for word in ("-E", f"{name}={value}")]
        return [self.emulator, "-cpu", self.cpu, "-L", self.root, *given, program, *words], kept


def is_script(program: Path) -> bool:
    """Whether the file begins as a script does."""
    with program.open("rb") as stream:
        return stream.read(2) == b"#!"


def prepare(dest: Path, limits: Limits | None = None, rid: str = "linux-arm64") -> Qemu:
    """The root folder in `dest`, made when it is not there yet: aside, and renamed when it is whole.

    Raises NotAvailableError without qemu, apt-get or a mirror.
    """
    system = SYSTEMS[rid]

    def make(root: Path) -> None:
        unpack(system.packages, root, suite=system.suite, architecture=system.architecture)
        if not (root / "lib").exists():
            (root / "lib").symlink_to("usr/lib")  # as base-files makes it
        if rid == "linux-arm64":
            add_processors(root)

    return Qemu(find(rid), made_once(dest.absolute() / "root", make), Group(limits), system.cpu)


def add_processors(root: Path) -> None:
    """Describe this machine's processors as arm64 ones, for programs that look."""
    (root / "proc").mkdir()
    processors = (CPUINFO.format(number=number) for number in range(os.cpu_count() or 1))
    (root / "proc" / "cpuinfo").write_text("\n".join(processors), encoding="ascii")


def main() -> int:
    """Make the folder; run a program when one is named."""
    request = serving.parse_request(__doc__)
    try:
        qemu = prepare(request.dest, request.limits)
    except NotAvailableError as reason:
        print(f"not available: {reason}", file=sys.stderr)
        return 1
    if request.program is None:
        print(f"{qemu.emulator}\n-L {qemu.root}")
    return serving.serve(qemu, request, _hurts)


def _hurts(name: str) -> bool:
    """Whether a variable of this system names what an arm64 program cannot load."""
    return name.startswith(("LD_", "QEMU_", "CONFINED_"))


if __name__ == "__main__":
    sys.exit(main())

"""Makes an arm64 Linux for tests: a folder with Debian's C and C++ libraries, and a way to run programs in it.

    apt-get install --no-install-recommends qemu-user-static
    python ci/qemu.py DEST                 # makes the folder, prints where it and qemu are
    python ci/qemu.py DEST program WORD... # and runs a program, with limits; ends all of it afterwards

Nothing is installed and nothing outside DEST is written: apt-get fetches signed packages with a private source list,
and they are only unpacked. binfmt is not needed. It is an emulator: numbers count, times do not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from confine import Group, LimitError, Limits
from ort_header import KEYRING, mirror
from ort_header import NotAvailableError as NoMirrorError

if TYPE_CHECKING:
    from collections.abc import Mapping

SUITE = "bookworm"
PACKAGES = ("libc6", "libgcc-s1", "libstdc++6")
_READY = "made-by-ci-qemu"
_DOWNLOAD_SECONDS = 180
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


class NotAvailableError(Exception):
    """There is no emulator here, or no packages for it; the text says why, for a test's skip."""


def find() -> Path:
    """The emulator. Raises NotAvailableError with the command that brings it."""
    for name in ("qemu-aarch64-static", "qemu-aarch64"):
        found = shutil.which(name)
        if found:
            return Path(found)
    raise NotAvailableError("qemu is missing: apt-get install --no-install-recommends qemu-user-static")


@dataclass
class Qemu:
    """A root folder that is ready, and the processes that run with it. Close it when done."""

    emulator: Path
    root: Path
    group: Group

    def run(
        self,
        program: Path,
        *words: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        feed: bytes = b"",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run an arm64 program. `env` reaches it alone and not the emulator. Raises LimitError."""
        kept = {name: os.environ[name] for name in _OURS if name in os.environ}
        given = [word for name, value in (env or {}).items() for word in ("-E", f"{name}={value}")]
        command = [self.emulator, "-cpu", "max", "-L", self.root, *given, program, *words]
        return self.group.run(command, kept, cwd=cwd, feed=feed)

    def close(self) -> None:
        """End all that still runs because of us."""
        self.group.close()


def prepare(dest: Path, limits: Limits | None = None) -> Qemu:
    """The root folder in `dest`, made when it is not there yet: aside, and renamed when it is whole.

    Raises NotAvailableError without qemu, apt-get or a mirror.
    """
    emulator = find()
    root = dest.absolute() / "root"
    if not (root / _READY).is_file():
        dest.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".root-", dir=dest))
        try:
            _make(aside)
            _rename(aside, root)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return Qemu(emulator, root, Group(limits))


def _make(root: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="qemu-root-") as name:
        folder = Path(name)
        for package in _download(folder):
            _run(["dpkg-deb", "-x", str(package), str(root)], folder)
    (root / "proc").mkdir()
    processors = (CPUINFO.format(number=number) for number in range(os.cpu_count() or 1))
    (root / "proc" / "cpuinfo").write_text("\n".join(processors), encoding="ascii")
    (root / _READY).write_text(f"{SUITE}: {' '.join(PACKAGES)}\n", encoding="utf-8")


def _download(folder: Path) -> list[Path]:
    for program in ("apt-get", "dpkg-deb"):
        if shutil.which(program) is None:
            raise NotAvailableError(f"{program} is missing: this is no Debian system")
    for part in ("lists/partial", "cache/archives/partial", "empty"):
        (folder / part).mkdir(parents=True)
    (folder / "status").touch()
    signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
    try:
        (folder / "sources.list").write_text(f"deb {signed}{mirror()} {SUITE} main\n", encoding="utf-8")
    except NoMirrorError as error:
        raise NotAvailableError(str(error)) from error
    private = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "Dir::Etc::SourceList": folder / "sources.list",
        "Dir::Etc::SourceParts": folder / "empty",
        "Dir::State::Lists": folder / "lists",
        "Dir::State::status": folder / "status",
        "Dir::Cache": folder / "cache",
        "Acquire::Languages": "none",
        "Acquire::Retries": "1",
        "APT::Sandbox::User": "",
    }
    options = [word for key, value in private.items() for word in ("-o", f"{key}={value}")]
    _run(["apt-get", *options, "-qq", "update"], folder)
    _run(["apt-get", *options, "-qq", "download", *PACKAGES], folder)
    found = sorted(folder.glob("*_arm64.deb"))
    if len(found) != len(PACKAGES):
        raise NotAvailableError(f"apt-get gave {len(found)} of {len(PACKAGES)} packages")
    return found


def _run(command: list[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=_DOWNLOAD_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotAvailableError(f"{command[0]}: {error}") from error
    if done.returncode:
        words = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()
        raise NotAvailableError(f"{command[0]} failed: {words[-1]}")


def _rename(aside: Path, root: Path) -> None:
    try:
        aside.rename(root)
    except OSError:
        if not (root / _READY).is_file():  # else somebody else was quicker, and theirs is as good
            raise


def main() -> int:
    """Make the folder; run a program when one is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dest", type=Path, help="the folder that gets the root folder")
    parser.add_argument("program", type=Path, nargs="?", help="an arm64 program to run")
    parser.add_argument("words", nargs=argparse.REMAINDER, help="its arguments")
    arguments = parser.parse_args()
    try:
        qemu = prepare(arguments.dest)
    except NotAvailableError as reason:
        print(f"not available: {reason}", file=sys.stderr)
        return 1
    if arguments.program is None:
        print(f"{qemu.emulator}\n-L {qemu.root}")
        return 0
    try:
        done = qemu.run(arguments.program, *arguments.words)
    except LimitError as error:
        print(error, file=sys.stderr)
        return 124
    finally:
        qemu.close()
    sys.stdout.buffer.write(done.stdout)
    sys.stderr.buffer.write(done.stderr)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())

"""Makes a Windows arm64 for tests: Debian's arm64 wine, run by qemu, for our own machine code ("glue") alone.

    apt-get install --no-install-recommends qemu-user-static

Nothing outside the folder is written (debian.py). It is wine 8 under an emulator, not Windows. The real ONNX Runtime
for Windows arm64 does not come up in it: it never returns from its unwinder (1.31.1 and 1.32.0 with qemu 7.2). So
programs bind a small runtime that answers OrtGetApiBase().

wine is not started as usual. wineboot starts explorer.exe, which under qemu starts itself again without end, so the
prefix is laid out by hand and explorer.exe is disabled.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.machines import NOT_SUPPORTED, NotAvailableError, make_once, qemu
from ci.machines.debian import unpack
from ci.machines.emulator import Emulator, Group, Limits, inherit
from ci.machines.wine import MISLEADING as _OF_WINE

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Mapping, Sequence

MISLEADING = (*_OF_WINE, *qemu.MISLEADING)
"""How variables of this system begin that would mislead wine, qemu or a Windows program."""
_PACKAGES = (
    *("wine64", "libwine", "libc6", "libgcc-s1", "libunwind8", "liblzma5", "zlib1g", "libstdc++6", "libgnutls30"),
    *("libp11-kit0", "libidn2-0", "libunistring2", "libtasn1-6", "libffi8", "libgmp10", "libnettle8", "libhogweed6"),
    *("libudev1", "libcap2", "libfreetype6", "libpng16-16", "libbrotli1", "libbz2-1.0"),
)
_SUITE, _NEWER = "bookworm", "trixie"
"""Wine 10 of trixie fails under qemu as a whole, but for its C runtime."""
_WINE = Path("usr/lib/wine")
_UNIX = Path("usr/lib/aarch64-linux-gnu/wine/aarch64-unix")
_DLLS = Path("usr/lib/aarch64-linux-gnu/wine/aarch64-windows")
_SYSTEM32 = Path("drive_c/windows/system32")
_BUILTIN = b"Wine builtin DLL"
_BUILTIN_AT, _BUILTIN_SIZE = 0x40, 0x20
"""Where wine marks a DLL as its own (winebuild, "builtin_signature")."""
LOST_BLOCK = re.compile(rb"wine: Unhandled page fault on read access to 0{14}[0-9A-F]{2} at address [0-9A-F]+AD10")
"""What a program prints for which this wine is at fault.

Windows keeps the address of the thread's own block in x18, but Debian's wine has libraries that are built as for Linux,
where x18 is free; LocalFree() changes it. ucrtbase.dll (at 0x6AD10) then reads the block near 0.
"""
_VARIABLES = {
    "WINEDEBUG": "-all",
    "LC_ALL": "C.UTF-8",
    "WINEARCH": "win64",
    "WINELOADERNOEXEC": "1",  # without the preloader, an arm64 program that the kernel would have to start
    "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe,explorer.exe=d;ucrtbase=n,b",
}


@dataclass
class WineArm64(Emulator):
    """A folder that is ready, and the processes that run in it. Close it when done: that ends the wineserver."""

    emulator: Path
    folder: Path

    def command(
        self, program: Path, arguments: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """The emulator runs wine, which runs the program, in what Windows gives and `env`."""
        root = self.folder / "root"
        return [*_start(self.emulator, root), root / _WINE / "wine64", program, *arguments], {
            **inherit("PATH", "TMPDIR", "USER"),
            **_VARIABLES,
            "HOME": str(self.folder),
            "WINEPREFIX": str(self.folder / "prefix"),
            "WINELOADER": str(root / _WINE / "wine64"),
            "WINESERVER": str(root / _WINE / "wineserver"),
            **env,
        }

    def run(
        self,
        program: Path,
        *arguments: str | Path,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        feed: bytes = b"",
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a program to its end; its status is that of a program that cannot run where this wine is at fault."""
        done = super().run(program, *arguments, env=env, cwd=cwd, feed=feed)
        if LOST_BLOCK.search(done.stderr):
            done.stderr += b"LocalFree() of this wine changes the register x18, which ucrtbase.dll reads\n"
            done.returncode = NOT_SUPPORTED
        return done

    def system_folder(self) -> Path:
        r"""The folder of C:\windows\system32."""
        return self.folder / "prefix" / _SYSTEM32


def prepare(dest: Path, limits: Limits | None = None) -> WineArm64:
    """The machine in `dest`, made when it is not there yet. Raises NotAvailableError without qemu or a mirror."""
    emulator = qemu.find("linux-arm64")
    folder = make_once(dest.absolute() / "wine", lambda aside: _make(emulator, aside, dest.absolute() / "wine"))
    return WineArm64(Group(limits), emulator, folder)


@contextlib.contextmanager
def open_machine(dest: Path, limits: Limits | None = None) -> Iterator[WineArm64]:
    """The machine of a folder; all that it runs ends with the block."""
    emulator = prepare(dest, limits)
    try:
        yield emulator
    finally:
        emulator.close()


def _make(emulator: Path, folder: Path, final: Path) -> None:
    """Lay wine and its prefix out in a folder that will be renamed to `final`."""
    root, newer = folder / "root", folder / "newer"
    unpack(_PACKAGES, root, architecture="arm64", suite=_SUITE)
    unpack(["libwine"], newer, architecture="arm64", suite=_NEWER)
    shutil.copytree(root / "lib", root / "usr/lib", symlinks=True, dirs_exist_ok=True)
    shutil.rmtree(root / "lib")
    (root / "lib").symlink_to("usr/lib")  # as Debian merges them; wine looks for its libraries next to the C library
    server = root / _WINE / "wineserver"
    server.unlink(missing_ok=True)
    started = shlex.join(map(str, [*_start(emulator, final / "root"), final / "root" / _WINE / "wineserver64"]))
    server.write_text(f'#!/bin/sh\nexec {started} "$@"\n', encoding="utf-8")
    server.chmod(0o755)
    prefix = folder / "prefix"
    system32 = prefix / _SYSTEM32
    system32.mkdir(parents=True)
    for file in (root / _DLLS).iterdir():
        shutil.copy2(file, system32)
    (system32 / "ucrtbase.dll").write_bytes(_as_native((newer / _DLLS / "ucrtbase.dll").read_bytes()))
    (prefix / ".update-timestamp").write_text("disable", encoding="ascii")  # else the first program starts wineboot
    (prefix / "dosdevices").mkdir()
    for drive, place in (("c:", "../drive_c"), ("z:", "/")):
        (prefix / "dosdevices" / drive).symlink_to(place)
    shutil.rmtree(newer)


def _start(emulator: Path, root: Path) -> list[str | Path]:
    """What runs a Linux program of the root folder.

    By its loader and not by qemu's -L, which also shows the root folder as / to wine: drive Z: would be that folder.
    """
    folders = [root / "usr/lib/aarch64-linux-gnu", root / _UNIX]
    return [emulator, root / "lib/ld-linux-aarch64.so.1", "--library-path", ":".join(map(str, folders))]


def _as_native(dll: bytes) -> bytes:
    """A DLL of wine without the mark that makes it one of wine's own.

    bookworm's own C runtime is an ELF library for arm64, where every function that takes a va_list crashes.
    """
    if dll[_BUILTIN_AT : _BUILTIN_AT + len(_BUILTIN)] != _BUILTIN:
        raise NotAvailableError("wine's ucrtbase.dll has no mark of a builtin DLL where it was")
    return dll[:_BUILTIN_AT] + bytes(_BUILTIN_SIZE) + dll[_BUILTIN_AT + _BUILTIN_SIZE :]

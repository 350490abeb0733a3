"""Makes a Windows x64 for tests from Debian's wine64: a prefix in a folder, and a way to run programs in it.

    apt-get install --no-install-recommends wine64

Nothing outside the folder is written. It is wine 8 or newer, not Windows: what passes here is evidence, not proof.
Never run it under an emulator of another processor: its processes respawn without end.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.machines import NotAvailableError, make_once, run_tool
from ci.machines.emulator import Emulator, Group, LimitError, Limits, inherit
from latebind.system.processes import end_trees

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_FOLDER = Path("/usr/lib/wine")
_ALLOW_AMX = Path(__file__).with_name("allow_amx.c")
_WAIT_SECONDS = 0.1
_QUIET = {
    "WINEDEBUG": "-all",
    "LC_ALL": "C.UTF-8",  # without a UTF-8 locale wine cannot name files in other scripts
    "WINEARCH": "win64",
    # No browser, no .NET, no menus: they would be asked for at the first start.
    "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=d",
    # Else Intel's OpenMP ends each process that PyTorch is loaded in: wine 8 lacks GetNumaNodeProcessorMaskEx().
    "KMP_AFFINITY": "disabled",
}
MISLEADING = ("DISPLAY", "LANG", "TMPDIR", "WINE", "LC_", "LD_")
"""How variables of this system begin that would mislead wine or a Windows program, which have their own."""


def find(*names: str) -> Path:
    """A program of wine, by default the loader. Raises NotAvailableError with the command that provides it."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise NotAvailableError("wine runs Windows x64 programs on Linux x64 alone")
    for name in names or ("wine64", "wine"):
        program = shutil.which(name) or shutil.which(str(_FOLDER / name))
        if program:
            return Path(program)
    raise NotAvailableError("wine is missing: apt-get install --no-install-recommends wine64")


@dataclass
class Wine(Emulator):
    """A prefix that is ready, and the processes that run in it. Close it when done: that ends the wineserver."""

    loader: Path
    prefix: Path
    preload: Path | None = None
    """A library that each process loads first."""

    def command(
        self, program: Path, arguments: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """The loader runs the program, in what Windows gives and `env`."""
        return [self.loader, program, *arguments], self._environment(env)

    def system_folder(self) -> Path:
        r"""Where C:\windows\system32 lies."""
        return self.prefix / "drive_c" / "windows" / "system32"

    def call_server(self, option: str) -> None:
        """Let the wineserver stay (-p), or wait until it has ended (-w)."""
        self.group.run([find("wineserver"), option], self._environment({}))

    def start(self) -> None:
        """Start Windows' own services and keep them until close(). Their stderr is dropped.

        Without it each run starts them again, and wine 8's device service crashes at times when it starts: that is
        none of the program that is run, but it would be on its stderr.
        """
        self.call_server("-p")
        self.run(Path("cmd"), "/c", "exit")

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        preload = {"LD_PRELOAD": str(self.preload)} if self.preload else {}
        return {
            **inherit("PATH", "HOME", "TMPDIR", "USER"),
            **_QUIET,
            **preload,
            "WINEPREFIX": str(self.prefix),
            **more,
        }


def windows_path(path: Path) -> str:
    r"""The name by which Windows programs know a file: Z:\ is the root."""
    return "Z:" + str(path.absolute()).replace("/", "\\")


def prepare(dest: Path, limits: Limits | None = None) -> Wine:
    """The prefix in `dest`, made when it is not there yet. Raises NotAvailableError without wine, or when it fails."""
    loader = find()
    prefix = make_once(dest.absolute() / "prefix", lambda folder: _make(loader, folder))
    return Wine(Group(limits), loader, prefix, _allow_amx(dest.absolute()))


def _allow_amx(dest: Path) -> Path | None:
    """The library that lets programs use AMX; None for a processor without it, and without zig, which compiles it."""
    from latebind.compilers.zig import find_zig  # noqa: PLC0415  # slow, and other machines import this module, too

    zig = find_zig()
    if "amx_tile" not in Path("/proc/cpuinfo").read_text("ascii", "replace").split() or zig is None:
        return None

    def compile_library(folder: Path) -> None:
        output = folder / "allow_amx.so"
        run_tool([zig, "cc", "-target", "x86_64-linux-gnu", "-shared", "-Os", "-g0", _ALLOW_AMX, "-o", output])

    return make_once(dest / "amx", compile_library) / "allow_amx.so"


def _make(loader: Path, prefix: Path) -> None:
    maker = Wine(Group(Limits(seconds=180)), loader, prefix)
    try:
        done = maker.run(Path("wineboot"), "-i")
        if done.returncode or not maker.system_folder().is_dir():
            raise NotAvailableError(f"wine made no prefix: {done.stderr.decode(errors='replace')[-300:]}")
        maker.call_server("-w")  # it writes its registry when its last program has ended
    except LimitError as error:
        raise NotAvailableError(f"wine made no prefix: {error}") from error
    finally:
        maker.close()


@contextlib.contextmanager
def open_free(dest: Path, limits: Limits | None = None) -> Iterator[Wine]:
    """A prefix below `dest` that no other process uses."""
    with lock_free(dest) as folder:
        emulator = prepare(folder, limits)
        mark = folder / "mark"
        if mark.is_file():  # of a process that was killed: its programs may just be ending
            end_trees([mark.read_text("ascii")])
        mark.write_text(emulator.group.mark, encoding="ascii")
        try:
            yield emulator
        finally:
            emulator.close()
            mark.unlink()


@contextlib.contextmanager
def lock_free(dest: Path, most: int = 0) -> Iterator[Path]:
    """A folder below `dest` for one prefix that no other process uses; waits while `most` are in use.

    Programs in one prefix share a wineserver, and the first to end would end it for all. `most` is by default the
    number of processors.
    """
    with contextlib.ExitStack() as stack:
        yield _first_free(dest, most or os.cpu_count() or 1, stack)


def _first_free(dest: Path, most: int, stack: contextlib.ExitStack) -> Path:
    while True:
        for number in range(most):
            folder = dest.absolute() / f"wine-{number}"
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / "lock").open("w")
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                stack.enter_context(lock)
                return folder
            lock.close()
        time.sleep(_WAIT_SECONDS)

"""Makes a Windows x64 for tests from Debian's wine64: a prefix in a folder, and a way to run programs in it.

    apt-get install --no-install-recommends wine64
    python -m ci.wine DEST                     # makes a prefix, prints where it and wine are
    python -m ci.wine DEST program.exe WORD... # and runs a program, with limits; ends all of it afterwards

Nothing is installed and nothing outside DEST is written. It is wine 8 or newer, not Windows: what passes here is
evidence, not proof. Never run it under an emulator of another processor: its processes respawn without end.
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

from ci import serving
from ci.confine import Group, LimitError, Limits, Machine
from ci.debian import NotAvailableError, made_once

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_PLACES = (Path("/usr/lib/wine/wine64"), Path("/usr/lib/wine/wine"))
_WAIT_SECONDS = 0.1
_QUIET = {
    "WINEDEBUG": "-all",
    "LC_ALL": "C.UTF-8",  # without a UTF-8 locale wine cannot name files in other scripts
    "WINEARCH": "win64",
    # No browser, no .NET, no menus: they would be asked for at the first start.
    "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=d",
}
_OURS = ("PATH", "HOME", "TMPDIR", "USER")


def find() -> Path:
    """The wine loader. Raises NotAvailableError with the command that provides it."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise NotAvailableError("wine runs Windows x64 programs on Linux x64 alone")
    for name in ("wine64", "wine"):
        found = shutil.which(name)
        if found:
            return Path(found)
    for place in _PLACES:
        if place.is_file():
            return place
    raise NotAvailableError("wine is missing: apt-get install --no-install-recommends wine64")


@dataclass
class Wine(Machine):
    """A prefix that is ready, and the processes that run in it. Close it when done: that ends the wineserver."""

    loader: Path
    prefix: Path
    group: Group

    def command(
        self, program: Path, words: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """The loader runs the program, in what Windows gives and `env`."""
        return [self.loader, program, *words], self._environment(env)

    def system_folder(self) -> Path:
        r"""Where C:\windows\system32 lies."""
        return self.prefix / "drive_c" / "windows" / "system32"

    def server(self, word: str) -> None:
        """Tell the wineserver to stay (-p), or wait until it has ended (-w)."""
        self.group.run([_server(), word], self._environment({}))

    def start(self) -> None:
        """Start Windows' own services and keep them until close(). Their stderr is dropped.

        Without it each run starts them again, and wine 8's device service crashes at times when it starts: that is
        none of the program that is run, but it would be on its stderr.
        """
        self.server("-p")
        self.run(Path("cmd"), "/c", "exit")

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _OURS if name in os.environ}
        return {**kept, **_QUIET, "WINEPREFIX": str(self.prefix), **more}


def windows_path(path: Path) -> str:
    r"""The name by which Windows programs know a file: Z:\ is the root."""
    return "Z:" + str(path.absolute()).replace("/", "\\")


def prepare(dest: Path, limits: Limits | None = None) -> Wine:
    """The prefix in `dest`, made when it is not there yet: aside, and renamed when it is whole.

    Raises NotAvailableError without wine, and when it cannot make a prefix.
    """
    loader = find()
    return Wine(loader, made_once(dest.absolute() / "prefix", lambda folder: _make(loader, folder)), Group(limits))


def _make(loader: Path, prefix: Path) -> None:
    maker = Wine(loader, prefix, Group(Limits(seconds=180)))
    try:
        done = maker.run(Path("wineboot"), "-i")
        if done.returncode or not maker.system_folder().is_dir():
            raise NotAvailableError(f"wine made no prefix: {done.stderr.decode(errors='replace')[-300:]}")
        maker.server("-w")  # it writes its registry when its last program has ended
    except LimitError as error:
        raise NotAvailableError(f"wine made no prefix: {error}") from error
    finally:
        maker.close()


def _server() -> Path:
    place = _PLACES[0].with_name("wineserver")
    found = shutil.which("wineserver")
    if not place.is_file() and found is None:
        raise NotAvailableError("wineserver is missing: apt-get install --no-install-recommends wine64")
    return place if place.is_file() else Path(str(found))


def main() -> int:
    """Make the prefix; run a program when one is named, in a prefix that nobody else uses."""
    request = serving.parse_request(__doc__)
    try:
        with one_of(request.dest) as dest:
            wine = prepare(dest, request.limits)
            if request.program is None:
                print(f"{wine.loader}\nWINEPREFIX={wine.prefix}")
            return serving.serve(wine, request, _hurts)
    except NotAvailableError as reason:
        print(f"not available: {reason}", file=sys.stderr)
        return 1


@contextlib.contextmanager
def one_of(dest: Path, most: int = 0) -> Iterator[Path]:
    """A folder below `dest` for one prefix that no other process uses; waits while `most` are in use.

    Programs in one prefix share a wineserver, and the first to end would end it for all. `most` is by default the
    number of processors.
    """
    with contextlib.ExitStack() as held:
        yield _first_free(dest, most or os.cpu_count() or 1, held)


def _first_free(dest: Path, most: int, held: contextlib.ExitStack) -> Path:
    while True:
        for number in range(most):
            folder = dest.absolute() / f"wine-{number}"
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / "lock").open("w")
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                held.enter_context(lock)
                return folder
            lock.close()
        time.sleep(_WAIT_SECONDS)


def _hurts(name: str) -> bool:
    """Whether a variable of this system would mislead wine or a Windows program, which have their own."""
    return name in {"DISPLAY", "LANG", "TMPDIR"} or name.startswith(("WINE", "LC_", "LD_", "CONFINED_"))


if __name__ == "__main__":
    sys.exit(main())

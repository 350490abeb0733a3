"""Makes the machines of other targets that this computer can have, and a file for each that `latebind verify` reads.

    python -m ci.machines DEST
    latebind verify --machines DEST ...

Windows x64 is wine with a CPython (wine.py, windows_python.py), Linux arm64 is qemu with Debian's (qemu.py,
arm64_python.py). What is there already is not made
again. What is missing is reported with how to install it; that is not an error.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latebind.system.archive import write_text

from ci import arm64_python, debian, qemu, windows_python, wine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

ROOT = Path(__file__).resolve().parent.parent
_ASK = "import platform; print(platform.python_version())"


def windows(dest: Path) -> dict[str, Any]:
    """wine with a Windows CPython."""
    with wine.one_of(dest) as place:
        machine = wine.prepare(place)
        python = windows_python.prepare(dest)
        try:
            done = machine.run(python, "-I", "-c", _ASK)
            version = machine.group.run([machine.loader, "--version"], {}).stdout.decode().strip()
        finally:
            machine.close()
    number, wine_version = _python_version(done), version.removeprefix("wine-").partition(" ")[0]
    return {
        "title": f"wine {wine_version} with CPython {number} and a stand-in for dxcore.dll",
        "command": _command("ci.wine", dest),
        "python": str(python),
        "python_version": number,
        "path_prefix": "Z:",
        "platforms": ["win_amd64"],
        "constraints": ["numpy<2.1"],  # wine 8 lacks ucrtbase.crealf, which newer ones call
    }


def arm64(dest: Path) -> dict[str, Any]:
    """qemu with Debian's arm64 CPython."""
    python = arm64_python.prepare(dest)
    machine = qemu.prepare(dest)
    try:
        done = machine.run(python, "-I", "-c", _ASK)
        version = machine.group.run([machine.emulator, "--version"], {}).stdout.decode().split("\n")[0]
    finally:
        machine.close()
    number = _python_version(done)
    return {
        "title": f"qemu {version.removeprefix('qemu-aarch64 version ').partition(' ')[0]} with CPython {number}",
        "command": _command("ci.qemu", dest),
        "python": str(python),
        "python_version": number,
        "platforms": ["manylinux_2_36_aarch64"],  # the C library of Debian 12
    }


MAKERS: dict[str, Callable[[Path], dict[str, Any]]] = {"win-x64": windows, "linux-arm64": arm64}


def make(dest: Path, *rids: str) -> dict[str, str]:
    """Make those, by default all; tell of each target what it is, or why it is not available."""
    told = {}
    for rid in rids or MAKERS:
        maker = MAKERS[rid]
        file = dest / f"{rid}.toml"
        try:
            row = {"rid": rid, **maker(dest / rid)}
        except debian.NotAvailableError as reason:
            file.unlink(missing_ok=True)
            told[rid] = f"not available: {reason}"
            continue
        # Strings and arrays of JSON are TOML's, too.
        text = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in row.items())
        if not file.is_file() or file.read_text("utf-8") != text:
            write_text(file, text)
        told[rid] = f"made: {row['title']}"
    return told


def _command(program: str, dest: Path) -> Sequence[str]:
    # Variables of Python are meant for the program that is run, not for this one.
    start = f"import runpy, sys; sys.path[0] = {str(ROOT)!r}; runpy.run_module({program!r}, run_name='__main__')"
    return [sys.executable, "-Es", "-c", start, "--seconds", "900", str(dest), "--"]


def _python_version(done: Any) -> str:
    if done.returncode:
        raise debian.NotAvailableError(f"its Python does not run: {done.stderr.decode(errors='replace')[-300:]}")
    return str(done.stdout.decode().strip())


def main() -> int:
    """Make them and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dest", type=Path, help="the folder that gets the machines and their files")
    dest = parser.parse_args().dest.absolute()
    dest.mkdir(parents=True, exist_ok=True)
    for rid, words in make(dest).items():
        print(f"{rid:12} {words}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

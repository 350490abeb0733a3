"""The machines: for each, what makes it and what runs its programs."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ci.machines import (
    NotAvailableError,
    Ready,
    arm64_python,
    chroot,
    dotnet_sdk,
    mono,
    musl,
    qemu,
    wine,
    wine_arm64,
)
from ci.machines.macos import machine as macos
from latebind.backend.files import write_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ci.machines.emulator import Emulator, Limits

_ASK = "import platform; print(platform.python_version())"


@dataclass(frozen=True)
class Machine:
    """Something that this computer lacks and can get in a folder."""

    name: str
    prepare: Callable[[Path], Ready]
    """Makes it in a folder, if it is not there yet. Raises NotAvailableError."""
    open: Callable[[Path, Limits], AbstractContextManager[Emulator]] | None = None
    """Runs programs of the target `name`, for `latebind verify`, in a folder that is prepared."""
    misleading: tuple[str, ...] = ()
    """How variables of this system begin that its programs must not get."""
    has_python: bool = False
    """Whether it runs wheels of another target in a CPython that latebind supports."""
    on_request: bool = False
    """Whether it is made only if it is named: it would replace this computer."""


def prepare_windows(dest: Path) -> Ready:
    """wine with a Windows CPython."""
    from ci.machines import windows_python  # noqa: PLC0415  # slow, and each test case runs its program by this module

    with wine.open_free(dest) as emulator:
        python = windows_python.prepare(dest)
        number = _ask_version(emulator, python)
        version = emulator.group.run([emulator.loader, "--version"], {}).stdout.decode().strip()
    version = version.removeprefix("wine-").partition(" ")[0]
    file = {
        "title": f"wine {version} with CPython {number} and a stand-in for dxcore.dll",
        "command": _start_command("win-x64", dest),
        "python": str(python),
        "python_version": number,
        "path_prefix": "Z:",
        "platforms": ["win_amd64"],
        "constraints": ["numpy<2.1"],  # wine 8 lacks ucrtbase.crealf, which newer ones call
    }
    return Ready(str(file["title"]), file=file)


def prepare_arm64(dest: Path) -> Ready:
    """qemu with Debian's arm64 CPython."""
    python = arm64_python.prepare(dest)
    with qemu.open_arm64(dest) as emulator:
        number = _ask_version(emulator, python)
        version = emulator.group.run([emulator.emulator, "--version"], {}).stdout.decode().split("\n")[0]
    version = version.removeprefix("qemu-aarch64 version ").partition(" ")[0]
    file = {
        "title": f"qemu {version} with CPython {number}",
        "command": _start_command("linux-arm64", dest),
        "python": str(python),
        "python_version": number,
        "platforms": ["manylinux_2_36_aarch64"],  # the C library of Debian 12
    }
    return Ready(str(file["title"]), file=file)


def prepare_debian11(dest: Path) -> Ready:
    """The oldest Debian that a mirror has, with its CPython: an old user space on this kernel."""
    with chroot.open_debian11(dest) as system:
        number = _ask_version(system, system.python)
    glibc = chroot.SYSTEMS["debian11"].glibc
    file = {
        "rid": "linux-x64",
        "title": f"Debian 11 with glibc {glibc} and CPython {number}, in a root folder",
        "command": _start_command("debian11", dest),
        "python": str(system.python),
        "python_version": number,
        "platforms": [f"manylinux_{glibc.replace('.', '_')}_x86_64"],
        "level": "real",
    }
    return Ready(str(file["title"]), file=file)


def prepare_macos(rid: str, dest: Path) -> Ready:
    """An emulated processor with a dyld and a libSystem of this repository: no runtime, no C++ and no Python."""
    from importlib import metadata  # noqa: PLC0415  # as above

    with macos.open_machine(rid, dest):
        pass
    file = {
        "title": f"an emulated macOS ({rid.removeprefix('osx-')}) of unicorn {metadata.version('unicorn')}",
        "command": _start_command(rid, dest),
        "level": "glue",
    }
    return Ready(str(file["title"]), file=file)


def prepare_windows_arm64(dest: Path) -> Ready:
    """wine for arm64, run by qemu: ONNX Runtime does not start in it."""
    with wine_arm64.open_machine(dest):
        pass
    file = {
        "title": "wine 8.0 for arm64, run by qemu",
        "command": _start_command("win-arm64", dest),
        "path_prefix": "Z:",
        "jobs": 1,  # its programs share a wineserver
        "level": "glue",
    }
    return Ready(str(file["title"]), file=file)


def prepare_musl(rid: str, dest: Path) -> Ready:
    """musl's loader and C library: a whole system for programs in C."""
    with musl.open_machine(dest, rid=rid) as system:
        title = "musl of Debian 12, run by qemu" if system.emulator else "musl of Debian 12 on this kernel"
    return Ready(title, file={"title": title, "command": _start_command(rid, dest), "level": "glue"})


MACHINES = (
    Machine("win-x64", prepare_windows, wine.open_free, wine.MISLEADING, has_python=True),
    Machine("linux-arm64", prepare_arm64, qemu.open_arm64, qemu.MISLEADING, has_python=True),
    Machine("win-arm64", prepare_windows_arm64, wine_arm64.open_machine, wine_arm64.MISLEADING),
    *(
        Machine(rid, partial(prepare_macos, rid), partial(macos.open_machine, rid), macos.MISLEADING)
        for rid in macos.KINDS
    ),
    *(
        Machine(rid, partial(prepare_musl, rid), partial(musl.open_machine, rid=rid), qemu.MISLEADING)
        for rid in musl.KINDS
    ),
    Machine("debian11", prepare_debian11, chroot.open_debian11, chroot.MISLEADING, on_request=True),
    Machine("mono", mono.prepare),
    Machine("dotnet", dotnet_sdk.prepare),
)


def make(dest: Path, *names: str) -> dict[str, str]:
    """Make those, by default all that run the programs of a target; report of each what it is, or why it is missing."""
    report = {}
    for machine in MACHINES:
        if machine.name not in names and (names or machine.open is None or machine.on_request):
            continue
        file = dest / f"{machine.name}.toml"
        try:
            ready = machine.prepare(dest / machine.name)
        except NotAvailableError as reason:
            file.unlink(missing_ok=True)
            report[machine.name] = f"not available: {reason}"
            continue
        entries = {"rid": machine.name, **ready.file}
        # Strings and arrays of JSON are TOML's, too.
        text = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in entries.items())
        if ready.file and not (file.is_file() and file.read_text("utf-8") == text):
            write_text(file, text)
        report[machine.name] = f"made: {ready.title}{f', in {ready.folder}' if ready.folder else ''}"
    return report


def _start_command(rid: str, dest: Path) -> list[str]:
    # Variables of Python are meant for the program that is run, not for this one.
    start = [sys.executable, "-Es", str(Path(__file__).with_name("__main__.py")), "--seconds", "900"]
    return [*start, "--run", rid, str(dest), "--"]


def _ask_version(emulator: Emulator, python: Path) -> str:
    done = emulator.run(python, "-I", "-c", _ASK)
    if done.returncode:
        raise NotAvailableError(f"its Python does not run: {done.stderr.decode(errors='replace')[-300:]}")
    return done.stdout.decode().strip()

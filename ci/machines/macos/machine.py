"""Runs a program for macOS to its end, and is a machine for tests: `prepare()` gives one that runs programs."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.machines import NotAvailableError
from ci.machines.emulator import Emulator, Group, Limits, inherit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ci.machines.macos.dyld import Dyld
    from ci.machines.macos.process import Process, Steps

_ROOT = Path(__file__).resolve().parents[3]
KINDS = {"osx-arm64": "arm64", "osx-x64": "x86_64"}
"""Targets, and what Apple calls their processors."""
MISLEADING = ("DYLD_",)


@dataclass
class MacOS(Emulator):
    """The emulator of one processor."""

    kind: str
    folder: Path

    def command(
        self, program: Path, arguments: Sequence[str | Path], env: Mapping[str, str]
    ) -> tuple[list[str | Path], dict[str, str]]:
        """Python runs this package, which runs the program."""
        fixed = {
            "PYTHONPATH": os.pathsep.join(map(str, (_ROOT, _ROOT / "packaging", _ROOT / "loadcheck/src"))),
            "LC_ALL": "C.UTF-8",
        }
        command = [sys.executable, "-m", "ci.machines.macos", self.kind, self.folder, program, *arguments]
        return command, {**inherit("PATH", "TMPDIR", "HOME"), **env, **fixed}


def prepare(dest: Path, limits: Limits | None = None, rid: str = "osx-arm64") -> MacOS:
    """The machine of a target. Raises NotAvailableError where unicorn or lief is not installed."""
    for name in ("lief", "unicorn"):  # the process that runs the program imports them, which is slow
        if importlib.util.find_spec(name) is None:
            raise NotAvailableError(f"{name} is not installed: pip install unicorn==2.1.4 lief")
    return MacOS(Group(limits), KINDS[rid], dest.absolute() / "images")


@contextlib.contextmanager
def open_machine(rid: str, dest: Path, limits: Limits | None = None) -> Iterator[MacOS]:
    """The machine of a target; all that it runs ends with the block."""
    emulator = prepare(dest, limits, rid)
    try:
        yield emulator
    finally:
        emulator.close()


def run_program(kind: str, kept: Path, path: Path, arguments: Sequence[str]) -> int:
    """Run a program; its exit status. Raises NotLoadedError, UnusableError or WrongCallError."""
    from ci.machines.macos import (  # noqa: F401, PLC0415  # each registers its functions
        dynamic_functions,
        file_functions,
        print_functions,
        scan_functions,
        stream_functions,
        system_functions,
        text_functions,
        thread_functions,
    )
    from ci.machines.macos.dyld import Dyld  # noqa: PLC0415  # slow to import
    from ci.machines.macos.process import Process  # noqa: PLC0415  # as above
    from ci.machines.macos.processor import COPY  # noqa: PLC0415  # as above

    process = Process(kind)
    dyld = Dyld(process, kept=kept)
    process.state |= {"dyld": dyld, "input": sys.stdin.buffer}
    for name, symbol in (("stdin", "___stdinp"), ("stdout", "___stdoutp"), ("stderr", "___stderrp")):
        stream, variable = process.allocate(16), process.allocate(16)
        process.state[name] = stream
        process.processor.write(variable, stream.to_bytes(8, "little"))
        dyld.data[symbol] = variable
    task = process.allocate(16)
    process.processor.write(task, (0x103).to_bytes(4, "little"))
    dyld.data["_mach_task_self_"] = task
    dyld.data |= dict.fromkeys(("_memcpy", "___memcpy_chk"), COPY)
    dyld.load(path.absolute())
    process.start_thread(_run_main(process, dyld, [os.fsencode(path), *map(os.fsencode, arguments)]))
    return process.run()


def _run_main(process: Process, dyld: Dyld, arguments: list[bytes]) -> Steps:
    from ci.machines.macos.process import Call  # noqa: PLC0415  # as in run_program()
    from ci.machines.macos.system_functions import run_exit  # noqa: PLC0415  # as above

    yield from dyld.initialize(dyld.program)
    pointers = [process.allocate_text(text) for text in arguments]
    table = process.allocate(8 * (len(pointers) + 1))
    process.processor.write(table, b"".join(pointer.to_bytes(8, "little") for pointer in pointers))
    empty = process.allocate(16)
    program = dyld.program
    entry = program.contents.entry + program.slide
    status = yield Call(entry, (len(pointers), table, empty, empty))
    return (yield from run_exit(process, status))

"""Runs a program under strace and reports which files it opened, made or started, step by step; must not judge them.

The program says where a step begins: it looks for the file `mark(step)`, which is never there. Linux only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_MARK = "/.step/"
_LOOKS = re.compile(r"(l?stat(x|fs|64)?|newfstatat|f?access(at2?)?|readlink(at)?|getcwd|chdir)$")
_LINE = re.compile(r"\d+ +(\w+)\((.*)")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


@dataclass(frozen=True)
class Opened:
    """One call with a file's name, whether it succeeded or not. `step` is "" before the first one."""

    step: str
    call: str
    path: str


@dataclass(frozen=True)
class Run:
    """How a program ended, and what it opened. `status` is None when it took too long."""

    status: int | None
    output: str
    opened: list[Opened]
    last: str
    """The step that was under way at the end."""


def mark(step: object) -> None:
    """Say that a step begins; for the program that is watched."""
    Path(f"{_MARK}{step}").exists()


def is_there() -> bool:
    """Whether this machine can watch programs."""
    strace = shutil.which("strace")
    if strace is None:
        return False
    tried = subprocess.run([strace, "-f", "-o", os.devnull, "true"], capture_output=True, check=False)
    return tried.returncode == 0


def watch(command: Sequence[str | Path], environment: Mapping[str, str], folder: Path, seconds: float) -> Run:
    """Run a command in a folder, to its end or for so long."""
    with tempfile.TemporaryDirectory(prefix="latebind-opened-") as scratch:
        log = Path(scratch) / "log"
        strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-xx", "-s", "4096", "-e", "trace=%file", "-o", str(log)]
        try:
            done = subprocess.run(
                [*strace, *command], cwd=folder, env=environment, capture_output=True, timeout=seconds, check=False
            )
            status, output = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired as error:
            status, output = None, (error.stdout or b"") + (error.stderr or b"")
        calls = list(_calls(log, folder))
    opened = [call for call in calls if not _LOOKS.match(call.call)]
    return Run(status, output.decode("utf-8", "replace"), opened, calls[-1].step if calls else "")


def _calls(log: Path, folder: Path) -> Iterator[Opened]:
    step = ""
    with log.open(encoding="ascii", errors="replace") as lines:
        for line in lines:
            match = _LINE.match(line)
            for text in _TEXT.findall(match[2])[:1] if match else ():
                path = bytes.fromhex(text.replace("\\x", "")).decode("utf-8", "surrogateescape")
                if path.startswith(_MARK):
                    step = path.removeprefix(_MARK)
                elif match:
                    yield Opened(step, match[1], os.path.normpath(folder / path))
    yield Opened(step, "stat", "")

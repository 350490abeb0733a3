"""Makes what this computer lacks for tests, in folders, and installs nothing: emulators, frameworks, tools, headers.

The table of machines is in table.py; `python -m ci.machines FOLDER` makes them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

READY = "made-of-debian-packages"
"""Marks a folder as whole; its text is what the folder was made from. Caches have it by this name."""
NOT_SUPPORTED = 125
"""The status of a machine's command that cannot run the program at all, as docs/verify.md has it."""
_SECONDS = 180.0
_TAIL = 500


class NotAvailableError(Exception):
    """What is wanted cannot be had here; the text says why, for a test's skip."""


@dataclass(frozen=True)
class Ready:
    """A machine that is ready: what it is, and what a program needs to use it."""

    title: str
    folder: Path | None = None
    """What to put on PATH; None if the system has it there, or if it is used by its file."""
    variables: Mapping[str, str] = field(default_factory=dict)
    file: Mapping[str, Any] = field(default_factory=dict)
    """What its file for `latebind verify` has, if it runs the programs of a target."""

    def apply(self, base: Mapping[str, str]) -> dict[str, str]:
        """The environment `base` with this machine first on its PATH."""
        if self.folder is None:
            return dict(base)
        path = os.pathsep.join(filter(None, [str(self.folder), base.get("PATH", "")]))
        return {**base, **self.variables, "PATH": path}


def make_once(dest: Path, make: Callable[[Path], object], stamp: str = "") -> Path:
    """A folder that `make` fills, unless it is there and was made of the same `stamp`: aside, and renamed when whole.

    Several processes may ask for the same folder at once: one makes it.
    """
    from filelock import FileLock  # noqa: PLC0415  # nox has it by virtualenv, the tests' environment by latebind

    dest.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(dest.with_name(f".{dest.name}.lock")):
        if (dest / READY).is_file() and (dest / READY).read_text("utf-8") == stamp:
            return dest
        with tempfile.TemporaryDirectory(prefix=f".{dest.name}-", dir=dest.parent) as scratch:
            aside = Path(scratch) / dest.name
            aside.mkdir()  # with the mode that the umask says: only its maker may enter a temporary folder
            make(aside)
            (aside / READY).write_text(stamp, encoding="utf-8")
            shutil.rmtree(dest, ignore_errors=True)  # of another stamp, or not whole
            aside.rename(dest)
    return dest


def run_tool(
    command: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    seconds: float = _SECONDS,
) -> str:
    """What a program prints on standard output. Raises NotAvailableError with the end of its output if it fails."""
    name = " ".join(map(str, command[:3]))
    try:
        done = subprocess.run(
            [*map(str, command)], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            text=True, errors="replace", timeout=seconds,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotAvailableError(f"{name}: {error}") from error
    if done.returncode:
        output = (done.stderr.strip() or done.stdout.strip() or "no message")[-_TAIL:]
        raise NotAvailableError(f"{name} ended with status {done.returncode}: {output}")
    return done.stdout


def check_hash(file: Path, name: str, sha256: str) -> None:
    """Raises NotAvailableError if a file is not what was pinned."""
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != sha256:
        raise NotAvailableError(f"{name} is not what was pinned: SHA-256 {digest} instead of {sha256}")


def print_made(prepare: Callable[[Path], object]) -> int:
    """The main program of a maker: make it in the folder that is named, print where it is, or why it cannot be had."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):  # noqa: PLR2004  # the program and its folder
        print(f"usage: python -m ci.machines.{Path(sys.argv[0]).stem} FOLDER", file=sys.stderr)
        return 2
    try:
        print(prepare(Path(sys.argv[1])))
    except NotAvailableError as reason:
        print(f"not available: {reason}", file=sys.stderr)
        return 1
    return 0

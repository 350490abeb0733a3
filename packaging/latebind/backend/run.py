"""Runs programs: argument lists without a shell, a time limit, captured output."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from latebind.backend.errors import ToolError

_TAIL_LINES = 40


class Ended(NamedTuple):
    """A process that ended by itself. `output` is stdout and stderr as they came, decoded leniently."""

    status: int
    output: str


def run(
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,
    check: bool = True,
) -> Ended:
    """Run a program to its end. `env` replaces the whole environment when it is given.

    Raises ToolError: the program is missing, ran past the limit or, with `check`, failed.
    """
    name = Path(argv[0]).name
    try:
        ended = subprocess.run(
            [str(argument) for argument in argv],
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except OSError as error:
        raise ToolError(f"{argv[0]} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{name} ran past its limit of {timeout:.0f} s") from error
    output = ended.stdout.decode("utf-8", "replace")
    if check and ended.returncode != 0:
        raise ToolError(f"{name} failed with status {ended.returncode}\n{tail(output)}")
    return Ended(ended.returncode, output)


def tail(text: str, lines: int = _TAIL_LINES) -> str:
    """The last lines of a program's output, each indented."""
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines()[-lines:])

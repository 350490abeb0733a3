"""Runs programs: argument lists without a shell, a time limit, captured output."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from latebind.backend.errors import ToolError

_TAIL_LINES = 40
_SECRET_WORDS = ("token", "secret", "password", "passwd", "apikey", "api-key", "api_key", "credential")


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """A process that ended by itself. `output` is stdout and stderr as they came, decoded leniently."""

    argv: tuple[str, ...]
    returncode: int
    output: str


class Run(Protocol):
    """How a build runs programs: by run(), or as latebind does, which ends all that they started and shows progress."""

    def __call__(  # noqa: PLR0913  # as run()
        self,
        argv: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 600,
        check: bool = True,
        log: Path | None = None,
    ) -> Completed:
        """Run a program to its end, as run() does."""


def run(  # noqa: PLR0913  # each argument is one independent property of a process
    argv: Sequence[str | Path],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 600,
    check: bool = True,
    log: Path | None = None,
) -> Completed:
    """Run a program to its end. `env` replaces the whole environment when it is given; `log` receives all output.

    Raises ToolError: the program is missing, ran past the limit or, with `check`, failed.
    """
    arguments = tuple(map(str, argv))
    name = Path(arguments[0]).name
    try:
        ended = subprocess.run(
            arguments,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            check=False,
        )
    except OSError as error:
        raise ToolError(f"{arguments[0]} cannot be started: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"{name} ran past its limit of {timeout:.0f} s") from error
    output = ended.stdout.decode("utf-8", "replace")
    write_log(log, arguments, output)
    if check and ended.returncode != 0:
        raise ToolError(f"{name} failed with status {ended.returncode}\n{tail(output)}")
    return Completed(argv=arguments, returncode=ended.returncode, output=output)


def tail(text: str, lines: int = _TAIL_LINES) -> str:
    """The last lines of a program's output, each indented."""
    return "\n".join(f"    {line}" for line in text.rstrip().splitlines()[-lines:])


def write_log(log: Path | None, arguments: Sequence[str], text: str) -> None:
    """Add a command and its output to a log, if there is one."""
    if log is not None:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("a", encoding="utf-8") as file:
            file.write(f"$ {command_text(arguments)}\n{text}\n")


def command_text(arguments: Sequence[str]) -> str:
    """A command as a user would type it, with the value of anything that looks like a secret left out."""
    out, hide = [], False
    for argument in arguments:
        lowered = argument.lower()
        if hide:
            out.append("***")
            hide = False
        elif any(secret in lowered for secret in _SECRET_WORDS):
            name, equals, _ = argument.partition("=")
            out.append(f"{name}=***" if equals else argument)
            hide = not equals and argument.startswith("-")
        else:
            out.append(argument)
    return shlex.join(out)

"""The command line that wine.py and qemu.py share: a program of another kind of system run as if it were one of this.

It is what a machine file of `latebind verify` names as its `command`. The program gets no input, this folder and this
environment, less what would hurt it; its output comes when it has ended, its status is ours. All that it started ends
with it, also when this process is killed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ci.confine import LimitError, Limits, Machine

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

OVER_A_LIMIT = 124
_MIB = 1024**2


@dataclass(frozen=True)
class Request:
    """What was asked for on the command line; without a program only that the machine be made."""

    dest: Path
    limits: Limits
    program: Path | None
    words: Sequence[str]


def parse_request(description: str | None) -> Request:
    """Read the command line. `--` before the program is optional."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="how long a program may run")
    parser.add_argument("--memory", type=int, default=Limits.memory // _MIB, help="MiB that it may take in all")
    parser.add_argument("dest", type=Path, help="the folder that gets what is made")
    parser.add_argument("program", nargs=argparse.REMAINDER, help="a program to run, and its arguments")
    arguments = parser.parse_args()
    words = arguments.program[1:] if arguments.program[:1] == ["--"] else arguments.program
    limits = Limits(seconds=arguments.seconds, memory=arguments.memory * _MIB)
    return Request(arguments.dest, limits, Path(words[0]) if words else None, words[1:])


def serve(machine: Machine, request: Request, hurts: Callable[[str], bool]) -> int:
    """Run the program and give its output and its status; 124 for one that was ended at a limit."""
    if request.program is None:
        return 0
    machine.group.guard()
    environment = {name: value for name, value in os.environ.items() if not hurts(name)}
    try:
        done = machine.run(request.program, *request.words, env=environment)
    except LimitError as error:
        _write_stream(sys.stdout.fileno(), error.output)
        print(error, file=sys.stderr)
        return OVER_A_LIMIT
    finally:
        machine.close()
    _write_stream(sys.stdout.fileno(), done.stdout)
    _write_stream(sys.stderr.fileno(), done.stderr)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _write_stream(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb", closefd=False) as stream:
        stream.write(data)

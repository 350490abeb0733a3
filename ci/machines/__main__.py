"""Makes machines that this computer lacks, or runs a program on one, as if it were a program of this system.

    python -m ci.machines FOLDER               # makes those of other targets, and a file of each for `--machines`
    python -m ci.machines FOLDER mono dotnet   # makes those that are named
    python -m ci.machines --run win-x64 FOLDER/win-x64 -- program.exe ARGUMENT...

What is there already is not made again. What is missing is reported with how to install it; that is not an error.
A program that is run gets no input, this folder and this environment, less what would mislead it; its output comes when
it has ended, its status is ours. All that it started ends with it, also when this process is killed.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from pathlib import Path

if not __package__:  # a machine file names this file by its path
    sys.path[0] = str(Path(__file__).resolve().parents[2])

from ci.machines import NotAvailableError
from ci.machines.emulator import LimitError, Limits
from ci.machines.table import MACHINES, make
from latebind.system.processes import TREE, watched_over

OVER_A_LIMIT = 124
_MIB = 1024**2


def main() -> int:
    """Make machines, or run a program on one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", metavar="NAME", choices=[machine.name for machine in MACHINES if machine.open])
    parser.add_argument("--seconds", type=float, default=Limits.seconds, help="how long a program may run")
    parser.add_argument("--memory", type=int, default=Limits.memory // _MIB, help="MiB that it may take in all")
    parser.add_argument("folder", type=Path, help="what the machines and their files are in")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="names of machines, or a program and its arguments")
    options = parser.parse_args()
    rest = options.rest[1:] if options.rest[:1] == ["--"] else options.rest
    folder = options.folder.absolute()
    if options.run:
        return run(options.run, folder, rest, Limits(seconds=options.seconds, memory=options.memory * _MIB))
    folder.mkdir(parents=True, exist_ok=True)
    for name, result in make(folder, *rest).items():
        print(f"{name:12} {result}")
    return 0


def run(name: str, folder: Path, command: list[str], limits: Limits) -> int:
    """Run the program and give its output and its status; 124 for one that was ended at a limit."""
    (machine,) = (machine for machine in MACHINES if machine.name == name)
    assert machine.open  # noqa: S101  # argparse has seen to it
    environment = {key: value for key, value in os.environ.items() if not key.startswith((*machine.misleading, TREE))}
    program, *arguments = command
    try:
        with watched_over(), machine.open(folder, limits) as emulator:
            done = emulator.run(Path(program), *arguments, env=environment)
    except NotAvailableError as reason:
        print(f"not available: {reason}", file=sys.stderr)
        return 1
    except LimitError as error:
        _write_stream(sys.stdout.fileno(), error.output)
        print(error, file=sys.stderr)
        return OVER_A_LIMIT
    _write_stream(sys.stdout.fileno(), done.stdout)
    _write_stream(sys.stderr.fileno(), done.stderr)
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def _write_stream(descriptor: int, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb", closefd=False) as stream:
        stream.write(data)


if __name__ == "__main__":
    sys.exit(main())

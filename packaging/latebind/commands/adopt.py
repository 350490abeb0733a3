"""The command `adopt`: shows what links a project's runtime, as its builds say, and makes it bind late."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.text import printable

if TYPE_CHECKING:
    from latebind.commands.common import Add
    from latebind.tables.presets import RuntimePreset

_MOST = 10
"""The most lines that a run prints, unless it is `--verbose`."""


def declare_adopt(add: Add) -> None:
    """`latebind adopt`."""
    command = add("adopt", _adopt, "show what links a project's runtime, and make it bind late")
    command.add_argument(
        "path", type=Path, nargs="?", metavar="PATH", help="the project's folder, or a package (default: this folder)"
    )
    command.add_argument(
        "--preset",
        action="append",
        default=[],
        metavar="FILE.toml",
        help="also look for a library that a file describes; may be repeated",
    )
    command.add_argument("--apply", action="store_true", help="write the change that is shown")
    command.add_argument("--download", action="store_true", help="let a CMake project download its dependencies")


def _adopt(arguments: argparse.Namespace) -> int:
    from latebind.adopt.advice import adopt
    from latebind.checks.policy import runtimes_named

    path = arguments.path or arguments.project
    described = runtimes_named(arguments.preset, Path())
    if path.is_dir() and path.resolve() != Path.cwd():  # commands that are printed run there
        described = tuple(_name_by_its_place(runtime) for runtime in described)
    adoption = adopt(path, may_download=arguments.download, described=described)
    ends = list(adoption.ends)
    if adoption.plan and arguments.apply:
        adoption.plan.write(path.resolve())
        ends = [f"written: {', '.join(adoption.plan.list_places())}", *adoption.applied]
    elif adoption.plan:
        here = path.resolve() == Path.cwd()
        ends.append(f"next: {shlex.join(['latebind', 'adopt', *([] if here else [str(path)]), '--apply'])}")
    elif arguments.apply:
        ends.append("--apply: nothing to write")
    given = [
        *(word for name in arguments.preset for word in ("--preset", name)),
        *([str(path)] if arguments.path else []),
    ]
    _print_lines(list(adoption.lines), ends, shlex.join(["latebind", "-v", "adopt", *given]))
    return 0


def _name_by_its_place(runtime: RuntimePreset) -> RuntimePreset:
    """A description as every folder can name it."""
    import msgspec

    return msgspec.structs.replace(runtime, file=str(Path(runtime.file).resolve()) if runtime.file else "")


def _print_lines(lines: list[str], ends: list[str], again: str) -> None:
    """Print what may hold names of an untrusted project: all that fits above the last lines, and `again` for more."""
    from latebind.system.log import LOG

    room = _MOST - len(ends)
    if len(lines) > room and LOG.level != "verbose":
        lines = [*lines[: room - 1], f"… {len(lines) - room + 1} more lines: {again}"]
    for line in [*lines, *ends]:
        print(printable(line))

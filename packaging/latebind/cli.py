"""The command line: declares the commands, runs one, and turns errors into messages and an exit status.

Exit status of every command: 0 success; 1 findings of severity error, or failed test cases; 2 wrong usage,
configuration or input; 141 the output pipe was closed. An interrupted one ends by the signal, which shells show as 130.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from latebind import __version__
from latebind.commands.adopt import declare_adopt
from latebind.commands.audit import declare_audit_command
from latebind.commands.ci import declare_ci
from latebind.commands.completion import SHELLS, complete
from latebind.commands.doctor import declare_doctor
from latebind.commands.examples import epilog
from latebind.commands.headers import declare_headers
from latebind.commands.loader_source import declare_loader_source
from latebind.commands.make import (
    declare_build,
    declare_cibuildwheel,
    declare_pack,
    declare_plan,
    declare_reproduce,
    declare_stage,
)
from latebind.commands.new import declare_new
from latebind.commands.parser import GroupedHelp, Parser
from latebind.commands.problems import print_error, print_problems
from latebind.commands.rehearse import declare_rehearse
from latebind.commands.release import declare_release
from latebind.commands.sbom import declare_sbom
from latebind.commands.stub import declare_stub
from latebind.commands.verify import declare_gate, declare_matrix, declare_verify
from latebind.errors import ANY_ERROR, LatebindError
from latebind.system.log import LOG
from latebind.text import shell_word

if TYPE_CHECKING:
    from latebind.commands.common import Add, Command

INTERRUPTED, PIPE_CLOSED = 130, 141
_GROUPS: dict[str, tuple[Callable[[Add], None], ...]] = {
    "start": (declare_new, declare_adopt, declare_ci, declare_doctor),
    "make packages": (declare_plan, declare_build, declare_stage, declare_pack),
    "check them": (declare_audit_command, declare_verify, declare_gate, declare_matrix, declare_reproduce),
    "release": (declare_release, declare_rehearse, declare_sbom),
    "with other build systems": (declare_stub, declare_headers, declare_loader_source, declare_cibuildwheel),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    write_utf8()
    parser = _parser()
    command_line = _replace_words(sys.argv[1:] if argv is None else argv)
    parser.refuse_option_before_command(command_line)
    arguments, unknown = parser.parse_known_args(command_line)
    if unknown:
        unknowing: Parser = getattr(arguments, "parser", parser)
        unknowing.refuse_unknown(unknown)
    if "command" not in arguments:
        parser.print_help(sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _interrupt)  # a cancelled job must end what it started
    arguments.names_project = arguments.project is not None  # `-C .`, too, makes `audit` apply the project's rules
    arguments.project = arguments.project or Path()
    LOG.level = "verbose" if arguments.verbose else "quiet" if arguments.quiet else "normal"
    try:
        _check_project(arguments.project)
        status: int = arguments.command(arguments)
        sys.stdout.flush()  # here, where a closed pipe is still handled
    except ANY_ERROR as error:
        sys.stdout.flush()
        print_problems(error, arguments.project)
        return error.exit_status
    except KeyboardInterrupt as interruption:
        print(file=sys.stderr)
        print_error("interrupted; earlier output is unchanged")
        return _end_by_signal(interruption) if argv is None else INTERRUPTED
    except BrokenPipeError:
        leave_closed_pipe()
        return PIPE_CLOSED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print_error(f"{place}{error.strerror or error}", _system_advice(error))
        return 2
    else:
        return status


def _replace_words(argv: Sequence[str]) -> list[str]:
    """`help`, `help COMMAND` and `version` as options, which is how argparse has them."""
    match list(argv):
        case ["help", *command]:
            return [*command, "--help"]
        case ["version"]:
            return ["--version"]
        case others:
            return others


def _check_project(folder: Path) -> None:
    """Refuse a -C without a folder: a search upwards from it would take the project around it."""
    if folder.is_dir():
        return
    if folder.exists():
        advice = f"Name its folder: -C {shell_word(folder.parent)}"
        raise LatebindError(f"-C {folder}: is a file, not a folder", advice=advice)
    raise LatebindError(
        f"-C {folder}: there is no such folder",
        advice="Name the folder that contains latebind.toml, or a folder below it.",
    )


def _interrupt(number: int, _frame: object) -> None:
    raise KeyboardInterrupt(number)


def _end_by_signal(interruption: KeyboardInterrupt) -> int:
    """End as a program without a handler does, so that the loop of a shell ends, too; Windows has a status for that."""
    number = next(iter(interruption.args), signal.SIGINT)
    sys.stdout.flush()
    sys.stderr.flush()
    if sys.platform != "win32":
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    return INTERRUPTED


def _system_advice(error: OSError) -> str:
    import errno

    from latebind.backend.files import describe_full_disk

    if error.errno == errno.ENOSPC:
        return f"{describe_full_disk(Path(error.filename or '.'))}; earlier output is unchanged."
    return "Fix the cause and run the command again; earlier output is unchanged."


def _parser() -> Parser:
    groups: dict[str, list[str]] = {}
    parser = Parser(
        prog="latebind",
        formatter_class=partial(GroupedHelp, groups=groups),
        description="Build native libraries that find their runtime late; package, audit and verify them.",
        epilog="A target is named by its RID, as in .NET: linux-x64, osx-arm64, win-x64. Exit status: 0 success, "
        "1 the result is negative, such as findings or failed test cases, 2 any other error, such as wrong usage or a "
        "failed build, 130 interrupted.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"latebind {__version__}")
    parser.add_argument("--cmake-dir", action=_CMakeDir, nargs=0, help="print the folder of latebindConfig.cmake")
    parser.add_argument(
        "-C",
        "--project",
        type=Path,
        metavar="DIR",
        help="folder of latebind.toml, or one below it (default: the current one)",
    )
    parser.add_argument(
        "--workdir",
        type=Path,
        metavar="DIR",
        help="folder for build/, stage/, dist/ and reports/ (default: the project's folder)",
    )
    _add_levels(parser, default=False)
    everywhere = Parser(add_help=False)
    _add_levels(everywhere, default=argparse.SUPPRESS)  # also after the command, without resetting one before it
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")

    def add(title: str, name: str, run: Command, text: str) -> argparse.ArgumentParser:
        groups.setdefault(title, []).append(name)
        raw = argparse.RawDescriptionHelpFormatter  # examples keep their lines
        command = commands.add_parser(
            name, help=text, description=text, parents=[everywhere], epilog=epilog(name), formatter_class=raw
        )
        command.set_defaults(command=run, parser=command)
        return command

    for title, declarations in _GROUPS.items():
        for declare in declarations:
            declare(partial(add, title))
    for command in commands.choices.values():
        _add_json(command)
    completion = add(
        "shell", "completion", lambda arguments: complete(parser, arguments.shell), "print a shell's completion script"
    )
    completion.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))
    return parser


def _add_json(command: argparse.ArgumentParser) -> None:
    """`--json` for each command with a `--format json`."""
    for action in command._actions:  # noqa: SLF001  # argparse has no other list of them
        if action.dest == "format" and "json" in (action.choices or ()):
            command.add_argument("--json", dest="format", action="store_const", const="json", help="= --format json")
            return


def _add_levels(parser: argparse.ArgumentParser, *, default: object) -> None:
    parser.add_argument(
        "-v", "--verbose", action="store_true", default=default, help="show all lines, and the commands that fail"
    )
    parser.add_argument("-q", "--quiet", action="store_true", default=default, help="print results and errors only")


class _CMakeDir(argparse.Action):
    def __call__(self, *_: object) -> None:
        from latebind.system.resources import cmake_dir

        print(cmake_dir())
        sys.exit(0)


def write_utf8() -> None:
    """Print UTF-8 with LF on every system: Windows' code pages have no ✓."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def leave_closed_pipe() -> None:
    """After a BrokenPipeError, as by `| head`: let Python write what is left to nowhere as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())

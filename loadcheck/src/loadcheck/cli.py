"""`loadcheck`: arguments, report and exit status. `latebind audit` declares the same options and runs the same audit.

Exit status: 0 no finding as severe as `--fail-on`; 1 such findings; 2 wrong usage or input, or a full disk; 130
interrupted; 141 the output pipe was closed.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from loadcheck import __version__
from loadcheck.errors import UserError
from loadcheck.model import PROFILES
from loadcheck.options import choose_checks, declare_audit, load_baseline, print_report
from loadcheck.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


INTERRUPTED, PIPE_CLOSED = 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Returns its exit status."""
    write_utf8()
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["env"]:
        return _run_safely(_audit_environment, _declare_environment().parse_args(words[1:]))
    if words[:1] == ["checks"]:
        return _run_safely(_list_checks, _declare_list().parse_args(words[1:]))
    parser = argparse.ArgumentParser(
        prog="loadcheck",
        description="Check packages of native code without running them",
        epilog="loadcheck env [PYTHON] checks what is installed in an environment. loadcheck checks lists all checks.",
    )
    parser.add_argument("--version", action="version", version=f"loadcheck {__version__}")
    parser.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="packages, libraries or folders")
    parser.add_argument("-v", "--verbose", action="store_true", help="show notes and all files")
    declare_audit(parser)
    arguments = parser.parse_intermixed_args(words)  # paths before and after options
    if not arguments.paths and not arguments.explain:
        parser.error("name what to check: loadcheck some.whl")
    return _run_safely(_run, arguments)


def _run_safely(run: Callable[[argparse.Namespace], int], arguments: argparse.Namespace) -> int:
    """The exit status of a command. A mistake of the user and a failure of the system are messages."""
    try:
        status = run(arguments)
        sys.stdout.flush()  # here, where a closed pipe is still handled
    except UserError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return error.exit_status
    except BrokenPipeError:
        leave_closed_pipe()
        return PIPE_CLOSED
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(printable(f"error: {place}{error.strerror or error}"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nerror: interrupted", file=sys.stderr)
        return INTERRUPTED
    else:
        return status


def _run(arguments: argparse.Namespace) -> int:
    from loadcheck.audit import audit_paths
    from loadcheck.engine.catalog import explain
    from loadcheck.engine.policy import Choice, default_policy
    from loadcheck.reports.pages import render_page

    if arguments.explain:
        print(render_page(explain(arguments.explain)))
        return 0
    policy = choose_checks(replace(default_policy(), choice=Choice(profile="loads")), arguments)
    return print_report(audit_paths(arguments.paths, policy), policy, arguments, load_baseline(arguments, None))


def _declare_list() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="loadcheck checks", description="List the checks: code, severity, narrowest profile and title"
    )
    parser.add_argument("--profile", choices=PROFILES, default="all", help="list those of a profile (default: all)")
    return parser


def _list_checks(arguments: argparse.Namespace) -> int:
    """Print each check of a profile."""
    from loadcheck.engine.catalog import checks

    for check in (each for each in checks().values() if arguments.profile in each.profiles):
        print(f"{check.code}  {check.severity:7}  {check.profiles[0]:7}  {check.title}")
    return 0


def _declare_environment() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="loadcheck env",
        description="Check what is installed in a Python environment, without running it: libraries that are there "
        "twice, and libraries and requirements that are missing",
    )
    parser.add_argument(
        "python",
        type=Path,
        nargs="?",
        metavar="PYTHON",
        help="an environment, its Python or a site-packages folder (default: the active environment)",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="show notes and all files")
    declare_audit(parser)
    return parser


def _audit_environment(arguments: argparse.Namespace) -> int:
    from loadcheck.audit import audit_environment
    from loadcheck.engine.policy import Choice, Policy

    python = arguments.python or Path(os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX") or sys.prefix)
    policy = choose_checks(Policy(choice=Choice(profile="loads")), arguments)
    return print_report(audit_environment(python, policy), policy, arguments, load_baseline(arguments, None))


def write_utf8() -> None:
    """Print UTF-8 with LF on every system: Windows' code pages have no ✓."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def leave_closed_pipe() -> None:
    """After a BrokenPipeError, as by `| head`: let Python write what is left to nowhere as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

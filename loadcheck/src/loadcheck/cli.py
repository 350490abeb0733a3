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
from loadcheck.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loadcheck.engine.baseline import Baseline
    from loadcheck.engine.policy import Policy
    from loadcheck.model import AuditReport

INTERRUPTED, PIPE_CLOSED = 130, 141
_FORMATS = ("text", "json", "sarif", "junit", "markdown", "github")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command. Returns its exit status."""
    write_utf8()
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["env"]:
        return _run_safely(_audit_environment, _declare_environment().parse_args(words[1:]))
    parser = argparse.ArgumentParser(
        prog="loadcheck",
        description="Check packages of native code without running them",
        epilog="loadcheck env [PYTHON] checks what is installed in an environment.",
    )
    parser.add_argument("--version", action="version", version=f"loadcheck {__version__}")
    parser.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="packages, libraries or folders")
    parser.add_argument("-v", "--verbose", action="store_true", help="show notes and all files")
    declare_audit(parser)
    arguments = parser.parse_args(words)
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
    from loadcheck.engine.choice import Choice
    from loadcheck.engine.policy import default_policy
    from loadcheck.reports.pages import render_page

    if arguments.explain:
        print(render_page(explain(arguments.explain)))
        return 0
    policy = choose_checks(replace(default_policy(), choice=Choice(profile="loads")), arguments)
    return print_report(audit_paths(arguments.paths, policy), policy, arguments, load_baseline(arguments, None))


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
    from loadcheck.engine.choice import Choice
    from loadcheck.engine.policy import Policy

    python = arguments.python or Path(os.environ.get("VIRTUAL_ENV") or os.environ.get("CONDA_PREFIX") or sys.prefix)
    policy = choose_checks(Policy(choice=Choice(profile="loads")), arguments)
    return print_report(audit_environment(python, policy), policy, arguments, load_baseline(arguments, None))


def declare_audit(parser: argparse.ArgumentParser) -> None:
    """The options of an audit, apart from its paths."""
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        default="text",
        help="format of the report (default: text); text shows notes and all files with -v",
    )
    parser.add_argument("--explain", metavar="CODE", help="explain a check and how to fix its findings, then exit")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--profile",
        choices=("loads", "runtime", "all"),
        help="checks to apply. loads: whether packages install, load and are safe; runtime: whether packages bind "
        "late; all: every check (default: loads; for a project of latebind, its audit.profile)",
    )
    codes = "codes or their prefixes, such as LB1,LB305"
    which.add_argument("--select", action="append", metavar="CODES", help=f"apply these checks only: {codes}")
    parser.add_argument("--ignore", action="append", metavar="CODES", help=f"leave out these checks: {codes}")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        help="lowest severity that fails the command (default: error; for a project of latebind, its audit.fail_on)",
    )
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE", help="report only findings that FILE does not list; count the others"
    )
    parser.add_argument(
        "--resolve",
        action="store_true",
        help="read from the package index what the requirements of wheels install; pip's or uv's configuration names "
        "the index",
    )
    parser.add_argument("--write-baseline", type=Path, metavar="FILE", help="write all findings to FILE, as a baseline")


def choose_checks(policy: Policy, arguments: argparse.Namespace) -> Policy:
    """The policy with the choice of checks that the options make.

    Raises UserError for a code that is no check's, and where no check is left but those of damaged files: a package
    would pass that nothing looked at.
    """
    from loadcheck.configuration import read_configuration
    from loadcheck.engine.choice import read_codes

    choice = policy.choice
    if arguments.profile:
        choice = replace(choice, profile=arguments.profile, select=())
    if arguments.select:
        choice = replace(choice, select=read_codes(arguments.select, "--select"), ignore=())
    ignore = read_codes(arguments.ignore or (), "--ignore")
    choice = replace(choice, ignore=tuple(dict.fromkeys((*choice.ignore, *ignore))))
    if not choice.is_any_left:
        advice = "latebind has the checks of late binding." if choice.profile == "runtime" else "Choose others."
        raise UserError(f"{choice}: none that is installed judges a package", advice=advice)
    resolve = arguments.resolve or read_configuration(Path()).resolve
    return replace(policy, choice=choice, fail_on=arguments.fail_on or policy.fail_on, resolve=resolve)


def load_baseline(arguments: argparse.Namespace, default: Path | None) -> Baseline | None:
    """The baseline that --baseline or else the caller names, unless one is to be written."""
    from loadcheck.engine.baseline import read_baseline

    file: Path | None = arguments.baseline or default
    return read_baseline(file) if file is not None and not arguments.write_baseline else None


def print_report(
    report: AuditReport,
    policy: Policy,
    arguments: argparse.Namespace,
    baseline: Baseline | None,
    report_file: Path | None = None,
) -> int:
    """Print a report without what the baseline has, and write it as JSON to a file, if one is named.

    Returns the exit status.
    """
    from loadcheck.archive import write_text
    from loadcheck.engine.baseline import baseline_text, read_baseline, without_known
    from loadcheck.reports.console import audit_text
    from loadcheck.reports.render import RENDERERS, audit_json

    if arguments.write_baseline:
        write_text(arguments.write_baseline, baseline_text(report.findings))
        baseline = read_baseline(arguments.write_baseline)
    report = without_known(report, baseline, policy.choice) if baseline else report
    if arguments.format == "text":
        print(audit_text(report, verbose=arguments.verbose), end="")
    else:
        print(RENDERERS[arguments.format](report), end="")
    if report_file:
        write_text(report_file, audit_json(report))
    return report.exit_status


def write_utf8() -> None:
    """Print UTF-8 with LF on every system: Windows' code pages have no ✓."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def leave_closed_pipe() -> None:
    """After a BrokenPipeError, as by `| head`: let Python write what is left to nowhere as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

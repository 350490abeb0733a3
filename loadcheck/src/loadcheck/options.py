"""The options of an audit on a command line, and what they do."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from loadcheck.errors import UserError

if TYPE_CHECKING:
    from loadcheck.engine.baseline import Baseline
    from loadcheck.engine.policy import Policy
    from loadcheck.model import AuditReport

_FORMATS = ("text", "html", "json", "sarif", "junit", "markdown", "github")


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
        action=argparse.BooleanOptionalAction,
        help="read what the requirements of wheels and npm packages install, from the package index of pip or uv, and "
        "the registry of npm",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="fail also for what is undecided, because a requirement that decides it was not read",
    )
    parser.add_argument("--write-baseline", type=Path, metavar="FILE", help="write all findings to FILE, as a baseline")


def choose_checks(policy: Policy, arguments: argparse.Namespace, *, is_configured: bool = False) -> Policy:
    """The policy as the options and the project's configuration change it; an option counts before the configuration.

    `is_configured` says that the policy has a project's rules already: then only `strict` and `resolve` are read here.
    Raises InputError for a configuration that cannot be read, UserError for a code that is no check's, and where no
    check is left but those of damaged files: a package would pass that nothing looked at.
    """
    from loadcheck.configuration import Configuration, read_configuration
    from loadcheck.engine.policy import read_codes

    configured = read_configuration(Path())
    if is_configured:
        configured = Configuration(strict=configured.strict, resolve=configured.resolve)
    choice = policy.choice
    profile, select = arguments.profile, arguments.select
    if not profile and not select:
        profile, select = configured.profile, configured.select
    if profile:
        choice = replace(choice, profile=profile, select=())
    if select:
        where = "--select" if arguments.select else "select"
        choice = replace(choice, select=read_codes(select, where), ignore=())
    resolve = configured.resolve if arguments.resolve is None else arguments.resolve
    ignore = (*read_codes(configured.ignore, "ignore"), *read_codes(arguments.ignore or (), "--ignore"))
    choice = replace(choice, ignore=tuple(dict.fromkeys((*choice.ignore, *ignore))))
    if not choice.is_any_left:
        advice = "latebind has the checks of late binding." if choice.profile == "runtime" else "Choose others."
        raise UserError(f"{choice}: none that is installed judges a package", advice=advice)
    return replace(
        policy,
        choice=choice,
        fail_on=arguments.fail_on or configured.fail_on or policy.fail_on,
        is_strict=arguments.strict or configured.strict or policy.is_strict,
        resolve=policy.resolve if resolve is None else resolve,
        lists_needs=arguments.format == "html",
        waivers=(*policy.waivers, *configured.waivers),
    )


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
    from loadcheck.terminal import fit_terminal

    if arguments.write_baseline:
        write_text(arguments.write_baseline, baseline_text(report.findings))
        baseline = read_baseline(arguments.write_baseline)
    report = without_known(report, baseline, policy.choice) if baseline else report
    if arguments.format == "text":
        print(fit_terminal(audit_text(report, verbose=arguments.verbose)), end="")
    else:
        print(RENDERERS[arguments.format](report), end="")
    if report_file:
        write_text(report_file, audit_json(report))
    return report.exit_status

"""`latebind audit`: arguments, report and exit status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import new_folder, open_project
from latebind.errors import LatebindError

if TYPE_CHECKING:
    import argparse

    from latebind.audit.engine.baseline import Baseline
    from latebind.audit.engine.policy import Policy
    from latebind.commands.common import Add
    from latebind.config.config import Config
    from latebind.config.project import Project


def declare_audit(add: Add) -> None:
    """`latebind audit`."""
    audit = add("audit", _audit, "inspect any packages, libraries or folders, without running their code")
    audit.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="files or folders (default: dist/)")
    formats = ("text", "json", "sarif", "junit", "markdown", "github")
    audit.add_argument(
        "--format",
        choices=formats,
        default="text",
        help="format of the report (default: text); text shows notes and all files with -v",
    )
    audit.add_argument("--output", type=new_folder, metavar="DIR", help="also write the report to DIR/audit.json")
    audit.add_argument("--explain", metavar="CODE", help="explain a check and how to fix its findings, then exit")
    audit.add_argument(
        "--preset",
        action="append",
        metavar="NAME|FILE.toml",
        help="audit against this runtime only: a preset, or a file that describes one; may be repeated",
    )
    _declare_choice(audit)


def _declare_choice(audit: argparse.ArgumentParser) -> None:
    which = audit.add_mutually_exclusive_group()
    which.add_argument(
        "--profile",
        choices=("loads", "runtime", "all"),
        help="checks to apply. loads: whether packages install, load and are safe; runtime: whether packages bind "
        "late; all: every check (default: audit.profile for the project; for other packages, runtime with "
        "--preset, otherwise loads)",
    )
    codes = "codes or their prefixes, such as LB1,LB305"
    which.add_argument("--select", action="append", metavar="CODES", help=f"apply these checks only: {codes}")
    audit.add_argument("--ignore", action="append", metavar="CODES", help=f"leave out these checks: {codes}")
    audit.add_argument(
        "--fail-on",
        choices=("error", "warning", "never"),
        help="lowest severity that fails the command (default: audit.fail_on of the project, else error)",
    )
    audit.add_argument(
        "--baseline", type=Path, metavar="FILE", help="report only findings that FILE does not list; count the others"
    )
    audit.add_argument("--write-baseline", type=Path, metavar="FILE", help="write all findings to FILE, as a baseline")


def _audit(arguments: argparse.Namespace) -> int:
    from latebind.audit.audit import audit_paths
    from latebind.audit.engine.baseline import baseline_text, read_baseline, without_known
    from latebind.audit.reports.console import audit_text
    from latebind.audit.reports.render import RENDERERS, audit_json
    from latebind.system.archive import write_text

    if arguments.explain:
        _explain(arguments.explain)
        return 0
    project = _open_project(arguments) if not arguments.paths or arguments.names_project else None
    paths = arguments.paths or ([project.dist] if project else [])
    if project is not None and not arguments.paths:
        _describe_dist(project)
    config = project.config if project else None
    policy = _policy(arguments, config)
    baseline = _load_baseline(arguments, config)
    report = audit_paths(paths, policy)
    if arguments.write_baseline:
        write_text(arguments.write_baseline, baseline_text(report.findings))
        baseline = read_baseline(arguments.write_baseline)
    report = without_known(report, baseline, policy.choice) if baseline else report
    if arguments.format == "text":
        print(audit_text(report, verbose=arguments.verbose), end="")
    else:
        print(RENDERERS[arguments.format](report), end="")
    if arguments.output:
        write_text(arguments.output / "audit.json", audit_json(report))
    return report.exit_status


def _open_project(arguments: argparse.Namespace) -> Project:
    """The project. Raises LatebindError; outside of one, it says that packages can be named."""
    from latebind.config.file import NoProjectError

    try:
        return open_project(arguments)
    except NoProjectError as error:
        advice = "Name what to audit: latebind audit some.whl. Or name a project's folder: latebind -C FOLDER audit."
        raise LatebindError(error.message, where=error.where, advice=advice) from error


def _describe_dist(project: Project) -> None:
    """Report which packages dist/ lacks or has out of date, with the command that makes them."""
    from latebind.pack.present import inspect_dist
    from latebind.system.log import LOG

    present = inspect_dist(project.config, project.workdir, project.dist)
    if present.outdated:
        again = ",".join(present.targets)
        LOG.say(f"out of date in dist/: {', '.join(present.outdated)}\n  To pack again: latebind pack --target {again}")
    if present.missing:
        LOG.say(f"not in dist/: packages for {', '.join(present.missing)}\n  To pack all: latebind pack --target all")


def _explain(code: str) -> None:
    """Print the page of a check: rendered on a terminal, as Markdown in a pipe."""
    from rich.console import Console
    from rich.markdown import Markdown

    from latebind.audit.engine.catalog import explain
    from latebind.audit.reports.pages import render_page

    page = render_page(explain(code))
    console = Console()
    if console.is_terminal:
        console.print(Markdown(page))
    else:
        print(page)


def _policy(arguments: argparse.Namespace, config: Config | None) -> Policy:
    """The project's own rules if it is named or its dist/ is audited; else the rules for any package."""
    from dataclasses import replace

    from latebind.audit.engine.choice import Choice, read_codes
    from latebind.audit.engine.policy import Policy, runtimes_named
    from latebind.audit.engine.project import project_policy

    anyone = Choice(profile="runtime" if arguments.preset else "loads")
    policy = project_policy(config) if config else Policy(choice=anyone)
    choice = policy.choice
    if arguments.profile:
        choice = replace(choice, profile=arguments.profile, select=())
    if arguments.select:
        choice = replace(choice, select=read_codes(arguments.select, "--select"), ignore=())
    ignore = read_codes(arguments.ignore or (), "--ignore")
    return replace(
        policy,
        choice=replace(choice, ignore=tuple(dict.fromkeys((*choice.ignore, *ignore)))),
        fail_on=arguments.fail_on or policy.fail_on,
        runtimes=runtimes_named(arguments.preset, Path()) if arguments.preset else policy.runtimes,
    )


def _load_baseline(arguments: argparse.Namespace, config: Config | None) -> Baseline | None:
    """The baseline that --baseline or the project names, unless one is to be written."""
    from latebind.audit.engine.baseline import read_baseline

    file: Path | None = arguments.baseline
    if file is None and config is not None and config.document.audit.baseline:
        file = config.root / config.document.audit.baseline
    return read_baseline(file) if file is not None and not arguments.write_baseline else None

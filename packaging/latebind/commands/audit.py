"""`latebind audit`: loadcheck with the project's rules and the checks of late binding."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import Add, describe_dist, new_folder, open_project
from latebind.errors import LatebindError
from loadcheck import declare_audit

if TYPE_CHECKING:
    from latebind.config.config import Config
    from latebind.config.project import Project
    from loadcheck.api import Policy


def declare_audit_command(add: Add) -> None:
    """`latebind audit`."""
    command = add("audit", _audit, "inspect any packages, libraries or folders, without running their code")
    command.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="files or folders (default: dist/)")
    command.add_argument("--output", type=new_folder, metavar="DIR", help="also write the report to DIR/audit.json")
    command.add_argument(
        "--preset",
        action="append",
        metavar="NAME|FILE.toml",
        help="audit against this runtime only: a preset, or a file that describes one; may be repeated; then the "
        "default profile is runtime",
    )
    declare_audit(command)


def _audit(arguments: argparse.Namespace) -> int:
    from loadcheck.api import audit_paths, load_baseline, print_report

    if arguments.explain:
        _explain(arguments.explain)
        return 0
    project = _open_project(arguments) if not arguments.paths or arguments.names_project else None
    paths = arguments.paths or ([project.dist] if project else [])
    if project is not None and not arguments.paths:
        if not project.dist.is_dir():
            raise LatebindError("there are no packages yet", where=str(project.dist), advice="Make them: latebind pack")
        describe_dist(project)
    config = project.config if project else None
    policy = _make_policy(arguments, config)
    baseline = load_baseline(arguments, _find_baseline(config))
    report_file = arguments.output / "audit.json" if arguments.output else None
    return print_report(audit_paths(paths, policy), policy, arguments, baseline, report_file)


def _open_project(arguments: argparse.Namespace) -> Project:
    """The project. Raises LatebindError; outside of one, it says that packages can be named."""
    from latebind.config.file import NoProjectError

    try:
        return open_project(arguments)
    except NoProjectError as error:
        advice = "Name what to audit: latebind audit some.whl. Or name a project's folder: latebind -C FOLDER audit."
        raise LatebindError(error.message, where=error.where, advice=advice) from error


def _explain(code: str) -> None:
    """Print the page of a check: rendered on a terminal, as Markdown in a pipe."""
    from rich.console import Console
    from rich.markdown import Markdown

    from loadcheck.api import explain, render_page

    page = render_page(explain(code))
    console = Console()
    if console.is_terminal:
        console.print(Markdown(page))
    else:
        print(page)


def _make_policy(arguments: argparse.Namespace, config: Config | None) -> Policy:
    """The project's own rules if it is named or its dist/ is audited; else the rules for any package.

    A project's requirements are read from the index, if one is known, as pack and verify read them.
    """
    from latebind.checks.policy import BindingPolicy, project_policy, runtimes_named
    from latebind.config.described import libraries
    from latebind.system.log import LOG
    from loadcheck.api import Choice, choose_checks, explain_no_index

    anyone = Choice(profile="runtime" if arguments.preset else "loads")
    problem = explain_no_index() if config and arguments.resolve is None else ""
    if problem:
        LOG.say(f"requirements are not read: {problem}")
    policy = replace(project_policy(config), resolve=not problem) if config else BindingPolicy(choice=anyone)
    if config is None and arguments.profile == "runtime":
        policy = replace(policy, runtimes=(*policy.runtimes, *libraries().values()))
    if arguments.preset:
        policy = replace(policy, runtimes=runtimes_named(arguments.preset, Path()))
    return choose_checks(policy, arguments, is_configured=config is not None)


def _find_baseline(config: Config | None) -> Path | None:
    """The baseline that the project names."""
    return config.root / config.document.audit.baseline if config and config.document.audit.baseline else None

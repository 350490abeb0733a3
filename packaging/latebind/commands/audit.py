"""`latebind audit`: arguments, report and exit status."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import configured
from latebind.errors import LatebindError

if TYPE_CHECKING:
    import argparse

    from latebind.audit.policy import Policy
    from latebind.commands.common import Add
    from latebind.config.config import Config


def declare_audit(add: Add) -> None:
    """`latebind audit`."""
    audit = add("audit", _audit, "inspect any wheels, nupkgs, libraries or folders, without running their code")
    audit.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="files or folders; default: dist/")
    formats = ("text", "json", "sarif", "junit", "markdown", "github")
    audit.add_argument("--format", choices=formats, default="text", help="format of the report; default: text")
    audit.add_argument("--output", type=Path, metavar="DIR", help="also write the report to DIR/audit.json")
    audit.add_argument("--explain", metavar="CODE", help="explain a check and how to fix its findings, then exit")
    audit.add_argument(
        "--preset",
        action="append",
        metavar="NAME|FILE.toml",
        help="audit against this runtime only: a preset, or a file that describes one; may be repeated",
    )


def _audit(arguments: argparse.Namespace) -> int:
    from latebind.audit.audit import audit_paths  # noqa: PLC0415
    from latebind.audit.render import RENDERERS, audit_json  # noqa: PLC0415
    from latebind.system.archive import write_text  # noqa: PLC0415

    if arguments.explain:
        _explain(arguments.explain)
        return 0
    config, workdir = configured(arguments) if not arguments.paths else (None, Path())
    paths = arguments.paths or [workdir / "dist"]
    report = audit_paths(paths, _policy(arguments, config))
    print(RENDERERS[arguments.format](report), end="")
    if arguments.output:
        if arguments.output.is_file() or arguments.output.suffix == ".json":
            advice = "Name a folder: --output reports writes reports/audit.json."
            raise LatebindError("is a file, and --output takes a folder", where=str(arguments.output), advice=advice)
        write_text(arguments.output / "audit.json", audit_json(report))
    return report.exit_status


def _explain(code: str) -> None:
    """Print the page of a check: rendered on a terminal, as Markdown in a pipe."""
    from rich.console import Console  # noqa: PLC0415
    from rich.markdown import Markdown  # noqa: PLC0415

    from latebind.audit.catalog import explain  # noqa: PLC0415
    from latebind.audit.pages import render_page  # noqa: PLC0415

    page = render_page(explain(code))
    console = Console()
    if console.is_terminal:
        console.print(Markdown(page))
    else:
        print(page)


def _policy(arguments: argparse.Namespace, config: Config | None) -> Policy:
    """The project's own rules if it is named or its dist/ is audited; else the rules for any package."""
    from dataclasses import replace  # noqa: PLC0415

    from latebind.audit.policy import Policy, runtimes_named  # noqa: PLC0415
    from latebind.audit.project import project_policy  # noqa: PLC0415

    if config is None and arguments.project != Path():
        config, _ = configured(arguments)
    policy = project_policy(config) if config else Policy()
    return replace(policy, runtimes=runtimes_named(arguments.preset, Path())) if arguments.preset else policy

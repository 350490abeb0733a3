"""The command `audit`: arguments, one call, printing; decides nothing."""

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
    audit = add("audit", _audit, "inspect wheels, nupkgs, libraries or folders of anyone; runs nothing of them")
    audit.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="files or folders; by default dist/")
    formats = ("text", "json", "sarif", "junit", "markdown", "github")
    audit.add_argument("--format", choices=formats, default="text")
    audit.add_argument("--output", type=Path, metavar="FILE", help="write the report there, too, as JSON")
    audit.add_argument("--explain", metavar="CODE", help="say why a check is there, and what mends it; audit nothing")
    audit.add_argument(
        "--preset",
        action="append",
        metavar="NAME|FILE.toml",
        help="audit against this runtime alone: a preset, or one that a file describes; may be repeated",
    )


def _audit(arguments: argparse.Namespace) -> int:
    from latebind.audit.audit import audit_paths  # noqa: PLC0415
    from latebind.audit.render import RENDERERS, audit_json  # noqa: PLC0415
    from latebind.system.archive import write_text  # noqa: PLC0415

    if arguments.explain:
        from latebind.audit.catalog import explain  # noqa: PLC0415
        from latebind.audit.pages import render_page  # noqa: PLC0415

        print(render_page(explain(arguments.explain)))
        return 0
    config, workdir = configured(arguments) if not arguments.paths else (None, Path())
    paths = arguments.paths or [workdir / "dist"]
    report = audit_paths(paths, _policy(arguments, config))
    print(RENDERERS[arguments.format](report), end="")
    if arguments.output:
        if arguments.output.is_dir():
            raise LatebindError("is a folder", where=str(arguments.output), advice="Name a file: --output FILE.")
        write_text(arguments.output, audit_json(report))
    return report.exit_status


def _policy(arguments: argparse.Namespace, config: Config | None) -> Policy:
    """The project's own rules when it is named or its dist/ is audited; else those for packages of anybody."""
    from dataclasses import replace  # noqa: PLC0415

    from latebind.audit.policy import Policy, runtimes_named  # noqa: PLC0415
    from latebind.audit.project import project_policy  # noqa: PLC0415

    if config is None and arguments.project != Path():
        config, _ = configured(arguments)
    policy = project_policy(config) if config else Policy()
    return replace(policy, runtimes=runtimes_named(arguments.preset, Path())) if arguments.preset else policy

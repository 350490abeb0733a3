"""The command `ci`: writes the project's GitHub workflow, or reports what is out of date in it."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from latebind.commands.common import Add, open_project
from latebind.errors import InputError, LatebindError

if TYPE_CHECKING:
    from latebind.adopt.workflow import Outdated


def declare_ci(add: Add) -> None:
    """`latebind ci`."""
    command = add("ci", _ci, "write the project's GitHub workflow, or report what is out of date in it")
    command.add_argument("--check", action="store_true", help="write nothing; exit 1 if the workflow is out of date")
    command.add_argument("--force", action="store_true", help="replace the workflow, including your changes to it")
    command.add_argument(
        "--reusable",
        action="store_true",
        help="write a short workflow that calls latebind's reusable workflow; it publishes nothing",
    )


def _ci(arguments: argparse.Namespace) -> int:
    from latebind.adopt.workflow import WORKFLOW, find_branch, find_tests, list_outdated, render_workflow
    from latebind.config.file import standalone_text, tables_of
    from latebind.system.files import replacing
    from latebind.system.folders import find_repository

    if arguments.check and (arguments.force or arguments.reusable):
        raise LatebindError("--force and --reusable would have no effect with --check", advice="Leave them out.")
    config = open_project(arguments).config
    tables = tables_of(standalone_text(config)) or {}
    repository = find_repository(config.root)
    file = repository / WORKFLOW
    if arguments.check:
        return _report(file, list_outdated(_read(file), tables, find_tests(config.root)), repository)
    if file.exists() and not arguments.force:
        raise InputError(
            "already exists",
            where=WORKFLOW,
            advice="To see what is out of date: latebind ci --check. To replace it: latebind ci --force.",
        )
    text = render_workflow(
        config.document.project.name,
        tables,
        branch=find_branch(repository),
        project=config.root.relative_to(repository).as_posix(),
        tests=find_tests(config.root),
        reusable=arguments.reusable,
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as aside:
        aside.write_text(text, "utf-8", newline="\n")
    print(f"written: {WORKFLOW}")
    return 0


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except FileNotFoundError as error:
        raise InputError("does not exist", where=str(file), advice="Write it: latebind ci.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8: {error.reason}", where=str(file)) from error


def _report(file: Path, outdated: list[Outdated], repository: Path) -> int:
    from latebind.text import annotation, plural

    name = file.relative_to(repository).as_posix()
    for problem in outdated:
        print(f"{name}:{problem.line}: {problem.message}\n  help: {problem.advice}")
        if os.environ.get("GITHUB_ACTIONS") == "true":
            print(annotation("error", f"{problem.message}. {problem.advice}", file=name, line=problem.line))
    print(f"{name}: {plural(len(outdated), 'problem')}" if outdated else f"{name} is up to date")
    return 1 if outdated else 0

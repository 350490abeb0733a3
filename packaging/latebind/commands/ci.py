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

_SHOWN = 5


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
    from latebind.adopt.workflow import (
        WORKFLOW,
        find_branch,
        find_tests,
        list_outdated,
        list_unrun_targets,
        render_workflow,
    )
    from latebind.config.file import standalone_text, tables_of
    from latebind.system.folders import find_repository
    from loadcheck.archive import replacing

    if arguments.check and (arguments.force or arguments.reusable):
        raise LatebindError("--force and --reusable would have no effect with --check", advice="Leave them out.")
    config = open_project(arguments).config
    tables = tables_of(standalone_text(config)) or {}
    repository = find_repository(config.root)
    file = repository / WORKFLOW
    if arguments.check:
        outdated = list_outdated(_read(file), tables, find_tests(config.root))
        return _report(file, outdated, list_unrun_targets(tables), repository)
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
    kept = _keep_edits(file, text, repository)
    with replacing(file) as aside:
        aside.write_text(text, "utf-8", newline="\n")
    print(f"written: {WORKFLOW}")
    if kept:
        print(kept)
    return 0


def _keep_edits(file: Path, new: str, repository: Path) -> str:
    """Keep a workflow that is about to be replaced, unless git has it; which of its lines go."""
    from latebind.system.git import ask_git
    from loadcheck.archive import write_text
    from loadcheck.text import plural

    if not file.exists() or (old := file.read_bytes().decode("utf-8-sig", "replace")) == new:
        return ""
    now = set(new.splitlines())
    gone = [(number, line) for number, line in enumerate(old.splitlines(), 1) if line.strip() and line not in now]
    name = file.relative_to(repository).as_posix()
    where = f"git diff {name}"
    if ask_git(repository, "show", f"HEAD:{name}") != old.rstrip():
        write_text(file.with_suffix(".yml.old"), old)
        where = f"{name}.old has the old file"
    shown = [f"  {number}: {line.strip()}" for number, line in gone[:_SHOWN]]
    more = [f"  and {len(gone) - _SHOWN} more"] if len(gone) > _SHOWN else []
    return "\n".join([f"note: {plural(len(gone), 'line')} of the old file went, which may be edits of yours:",
                      *shown, *more, f"  help: to see all: {where}"])  # fmt: skip


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except FileNotFoundError as error:
        raise InputError("does not exist", where=str(file), advice="Write it: latebind ci.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8: {error.reason}", where=str(file)) from error


def _report(file: Path, outdated: list[Outdated], unrun: list[str], repository: Path) -> int:
    from loadcheck.text import annotation, plural

    name = file.relative_to(repository).as_posix()
    for problem in outdated:
        print(f"{name}:{problem.line}: {problem.message}\n  help: {problem.advice}")
        if os.environ.get("GITHUB_ACTIONS") == "true":
            print(annotation("error", f"{problem.message}. {problem.advice}", file=name, line=problem.line))
    but = f", but no job verifies {' and '.join(unrun)}, for which GitHub has no runner" if unrun else ""
    print(f"{name}: {plural(len(outdated), 'problem')}{but}" if outdated else f"{name} is up to date{but}")
    if unrun:
        print("  help: on a machine of the target, verify with a kit: latebind verify --kit DIR")
    return 1 if outdated else 0

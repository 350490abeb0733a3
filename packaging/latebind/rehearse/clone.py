"""Clones a project, limited to targets of this machine, commits and tags it, as a release would start."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tomlkit

from latebind.adopt.workflow import WORKFLOW, render_workflow
from latebind.backend.files import write_text
from latebind.config.config import Config
from latebind.config.file import load, standalone_text, tables_of
from latebind.errors import InputError
from latebind.release import changelog
from latebind.release.tag import Tag, check_tag
from latebind.system.folders import find_repository
from latebind.system.git import run_git

_NAMED = ("-c", "user.name=latebind", "-c", "user.email=latebind@localhost", "-c", "commit.gpgsign=false")
_SHOWN, _LIMIT = 3, 600.0


def refuse_unready(config: Config, tag: str, *, dry_run: bool) -> None:
    """Refuse a project that cannot be tagged. Raises InputError for what a release would find minutes later.

    A dry run needs no section in the changelog.
    """
    project, file = config.project, find_changelog(config)
    for wrong in check_tag(Tag(name=tag), project.name, project.version, {}):
        raise InputError(f"{wrong.file}: {wrong.why}", advice=wrong.fix)
    text = file.read_text("utf-8") if file.is_file() else ""
    for why, fix in () if dry_run else changelog.find_faults(config, changelog.release_notes(config, text)):
        why_absent = "" if file.is_file() else "does not exist, so it "
        raise InputError(f"{why_absent}{why} for the tag {tag}", where=str(file), advice=fix)
    dirty = run_git(config.root, "status", "--porcelain", "--untracked-files=no").splitlines()
    if dirty:
        more = f" and {len(dirty) - _SHOWN} more" if len(dirty) > _SHOWN else ""
        names = ", ".join(line[3:] for line in dirty[:_SHOWN])
        raise InputError(
            f"has uncommitted changes, which the tag {tag} would not have: {names}{more}",
            where=str(config.root),
            advice="Commit them, or put them aside: git stash.",
        )


def find_changelog(config: Config) -> Path:
    """The changelog next to the configuration, else that of the repository."""
    near = [folder / "CHANGELOG.md" for folder in (config.root, find_repository(config.root))]
    return next((file for file in near if file.is_file()), near[0])


def clone_project(config: Config, folder: Path, rids: Sequence[str], tag: str) -> Config:
    """The project in a clone, for some of its targets, with a commit that has the tag.

    The clone gets the workflow of `latebind ci` if the project has none, and the unreleased section of its changelog
    becomes that of the version if there is no such section. Raises ToolError as git does.
    """
    repository = find_repository(config.root)
    options = ("--quiet", "--no-tags", "--recurse-submodules")
    run_git(repository, "clone", *options, str(repository), str(folder), timeout=_LIMIT)
    root = folder / config.root.relative_to(repository)
    file = root / config.file.name
    if list(rids) != list(config.document.targets.include):
        file.write_text(limit_targets(file.read_text("utf-8"), rids), encoding="utf-8")
    notes = find_changelog(load(file))
    text = notes.read_text("utf-8")
    if changelog.find_section(text, config.project.version) is None:
        notes.write_text(text.replace(f"[{changelog.UNRELEASED}]", f"[{config.project.version}]", 1), encoding="utf-8")
    if not (folder / WORKFLOW).is_file():
        tables, place = tables_of(standalone_text(config)) or {}, root.relative_to(folder).as_posix()
        write_text(folder / WORKFLOW, render_workflow(config.project.name, tables, branch="main", project=place))
    run_git(folder, "add", "--all")
    run_git(folder, *_NAMED, "commit", "--quiet", "--no-verify", "--allow-empty", "--message", f"Rehearse {tag}")
    run_git(folder, *_NAMED, "tag", "--force", "--message", tag, tag)
    return load(file)


def limit_targets(text: str, rids: Sequence[str]) -> str:
    """A configuration with fewer targets; everything else is as it was."""
    document = tomlkit.parse(text)
    tables: Any = document.get("tool", {}).get("latebind", document)
    tables.setdefault("targets", {})["include"] = list(rids)
    return tomlkit.dumps(document)

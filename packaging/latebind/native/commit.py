"""Finds the commit of a project's sources for the nuspec.

A package may name a commit only if that commit has what is in the package. So a work tree with edited files has none,
and neither has a project that its repository does not track. Untracked files do not count: build outputs are untracked,
and would make a second run differ from the first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

from latebind.backend.files import source_date_epoch
from latebind.backend.programs import which
from latebind.errors import BuildError, NotRun, ToolError
from latebind.system.folders import find_repository
from latebind.system.git import ask_git, run_git
from latebind.system.log import LOG

COMMIT_VARIABLE = "LATEBIND_COMMIT"
"""The environment variable that states the commit of sources exported from a repository. Empty means none."""

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def source_commit(file: Path, environment: Mapping[str, str] | None = None) -> str:
    """The commit of the sources of a configuration file as hexadecimal text, "" where there is none to name.

    In this order: LATEBIND_COMMIT, git, and GITHUB_SHA for a project below GITHUB_WORKSPACE, whose checkout has no
    repository where git is missing.

    Raises BuildError when LATEBIND_COMMIT is not a full hash.
    """
    env = os.environ if environment is None else environment
    if COMMIT_VARIABLE in env:
        return _check_commit(env[COMMIT_VARIABLE])
    root = file.parent.resolve()
    if (find_repository(root) / ".git").exists() and which("git", path=env.get("PATH", "")) is not None:
        return _of_git(root, file.name, env)
    workspace, stated = env.get("GITHUB_WORKSPACE", ""), env.get("GITHUB_SHA", "")
    if workspace and _HASH.fullmatch(stated) and root.is_relative_to(Path(workspace).resolve()):
        return stated
    return ""


def tagged_commit(root: Path, tag: str) -> str:
    """The commit of a tag in the project's repository; "" without git, a repository or such a tag."""
    if not (find_repository(root) / ".git").exists():
        return ""
    arguments = ("rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}")
    commit = ask_git(root, *arguments)
    return commit if _HASH.fullmatch(commit) else ""


def checkout(root: Path) -> Path | None:
    """The folder that the commit of a project is a commit of; None where it is unknown, as for exported sources."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    for folder in (root, *root.parents):
        if (folder / ".git").exists() or (workspace and folder == Path(workspace).resolve()):
            return folder
    return None


def source_date(root: Path, commit: str) -> str:
    """The date of a project's sources, `2026-11-21`, from SOURCE_DATE_EPOCH or the commit; "" without either."""
    if os.environ.get("SOURCE_DATE_EPOCH"):
        seconds = str(source_date_epoch())
    else:
        seconds = ask_git(root, "show", "--no-patch", "--format=%ct", commit, "--") if commit else ""
    return datetime.fromtimestamp(int(seconds), timezone.utc).date().isoformat() if seconds.isdigit() else ""


def _check_commit(text: str) -> str:
    if text and not _HASH.fullmatch(text):
        raise BuildError(
            f"{COMMIT_VARIABLE} is {text!r}, which is not a commit", advice="Give all 40 or 64 hexadecimal digits."
        )
    return text


def _of_git(root: Path, file_name: str, environment: Mapping[str, str]) -> str:
    steps = {
        "has a configuration file that git does not track": ["ls-files", "--error-unmatch", "--", file_name],
        "has uncommitted changes": ["status", "--porcelain", "--untracked-files=no"],
        "has no commit": ["rev-parse", "HEAD"],
    }
    output = ""
    for why, arguments in steps.items():
        try:
            output = run_git(root, *arguments, environment=environment)
        except (NotRun, ToolError) as error:
            reason = error.message.partition("\n")[0]
            LOG.detail(f"packages will not name a commit: {root} {why} ({reason})")
            return ""
        if arguments[0] == "status" and output:
            LOG.detail(f"packages will not name a commit: {root} {why}")
            return ""
    return output if _HASH.fullmatch(output) else ""

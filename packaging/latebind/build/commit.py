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

from latebind.errors import BuildError, ToolError
from latebind.system.archive import source_date_epoch
from latebind.system.folders import find_repository
from latebind.system.log import LOG
from latebind.system.programs import which
from latebind.system.run import Completed, run

COMMIT_VARIABLE = "LATEBIND_COMMIT"
"""The environment variable that states the commit of sources exported from a repository. Empty means none."""

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_TIME_LIMIT = 60.0


def source_commit(file: Path, environment: Mapping[str, str] | None = None) -> str:
    """The commit of the sources of a configuration file as hexadecimal text, "" where there is none to name.

    In this order: LATEBIND_COMMIT, git, and GITHUB_SHA for a project below GITHUB_WORKSPACE, whose checkout has no
    repository where git is missing.

    Raises BuildError when LATEBIND_COMMIT is not a full hash.
    """
    env = os.environ if environment is None else environment
    if COMMIT_VARIABLE in env:
        return _check_commit(env[COMMIT_VARIABLE])
    git, root = which("git", path=env.get("PATH", "")), file.parent.resolve()
    if (find_repository(root) / ".git").exists() and git is not None:
        return _of_git(git, root, file.name, env)
    workspace, stated = env.get("GITHUB_WORKSPACE", ""), env.get("GITHUB_SHA", "")
    if workspace and _HASH.fullmatch(stated) and root.is_relative_to(Path(workspace).resolve()):
        return stated
    return ""


def tagged_commit(root: Path, tag: str) -> str:
    """The commit of a tag in the project's repository; "" without git, a repository or such a tag."""
    git = which("git")
    if git is None or not (find_repository(root) / ".git").exists():
        return ""
    try:
        ended = _run_git(git, root, "rev-parse", "--verify", "--quiet", f"refs/tags/{tag}^{{commit}}")
    except ToolError:
        return ""
    commit = ended.output.strip()
    return commit if ended.returncode == 0 and _HASH.fullmatch(commit) else ""


def checkout(root: Path) -> Path | None:
    """The folder that the commit of a project is a commit of; None where it is unknown, as for exported sources."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    for folder in (root, *root.parents):
        if (folder / ".git").exists() or (workspace and folder == Path(workspace).resolve()):
            return folder
    return None


def source_date(root: Path, commit: str) -> str:
    """The date of a project's sources, `2026-11-21`, from SOURCE_DATE_EPOCH or the commit; "" without either."""
    git = which("git")
    if os.environ.get("SOURCE_DATE_EPOCH"):
        seconds = str(source_date_epoch())
    elif commit and git is not None:
        seconds = _run_git(git, root, "show", "--no-patch", "--format=%ct", commit, "--").output.strip()
    else:
        return ""
    return datetime.fromtimestamp(int(seconds), timezone.utc).date().isoformat() if seconds.isdigit() else ""


def _run_git(git: Path, root: Path, *arguments: str, environment: Mapping[str, str] = os.environ) -> Completed:
    """Raises ToolError. Hooks of git set GIT_DIR and others, which would lead to another repository."""
    env = {key: value for key, value in environment.items() if not key.startswith("GIT_")} | {"LC_ALL": "C"}
    return run([git, *arguments], cwd=root, env=env, timeout=_TIME_LIMIT, check=False)


def _check_commit(text: str) -> str:
    if text and not _HASH.fullmatch(text):
        raise BuildError(
            f"{COMMIT_VARIABLE} is {text!r}, which is not a commit", advice="Give all 40 or 64 hexadecimal digits."
        )
    return text


def _of_git(git: Path, root: Path, file_name: str, environment: Mapping[str, str]) -> str:
    steps = {
        "has a configuration file that git does not track": ["ls-files", "--error-unmatch", "--", file_name],
        "has uncommitted changes": ["status", "--porcelain", "--untracked-files=no"],
        "": ["rev-parse", "HEAD"],
    }
    output = ""
    for why, arguments in steps.items():
        try:
            ended = _run_git(git, root, *arguments, environment=environment)
        except ToolError as error:
            LOG.detail(f"packages will not name a commit: {error.message}")
            return ""
        output = ended.output.strip()
        if ended.returncode != 0 or (arguments[0] == "status" and output):
            LOG.detail(f"packages will not name a commit: {root} {why or 'has no commit'}")
            return ""
    return output if _HASH.fullmatch(output) else ""

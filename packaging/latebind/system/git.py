"""Asks git about the repository of a folder, and finds the commit of a project's sources.

A package may name a commit only if that commit has what is in the package. So a work tree with edited files has none,
and neither has a project that its repository does not track. Untracked files do not count: build outputs are untracked,
and would make a second run differ from the first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cache
from pathlib import Path

from latebind.backend.files import source_date_epoch
from latebind.backend.programs import which
from latebind.errors import BuildError, NotRun, ToolError
from latebind.system.folders import find_repository
from latebind.system.log import LOG
from latebind.system.run import run

COMMIT_VARIABLE = "LATEBIND_COMMIT"
"""The environment variable that states the commit of sources exported from a repository. Empty means none."""
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def run_git(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None, timeout: float = 60.0) -> str:
    """What git prints in a folder. Raises NotRun without git, ToolError when it fails or runs past the limit.

    Hooks of git set GIT_DIR and others, which would lead to another repository: git does not get those.
    """
    env = os.environ if environment is None else environment
    git = which("git", path=env.get("PATH", ""))
    if git is None:
        raise NotRun("no-program", "git is not on PATH")
    own = {key: value for key, value in env.items() if key not in _list_local(git)} | {"LC_ALL": "C"}
    return run([git, *arguments], cwd=folder, env=own, timeout=timeout).output.rstrip()


@cache
def _list_local(git: Path) -> frozenset[str]:
    """The variables that are about one repository; not its configuration, which a user may set for all."""
    listed = run([git, "rev-parse", "--local-env-vars"], timeout=60).output.split()
    return frozenset(name for name in listed if not name.startswith("GIT_CONFIG"))


def list_tracked(folder: Path) -> frozenset[Path] | None:
    """The files that git tracks in the repository of a folder and its submodules, resolved; None where git cannot say.

    A file behind a link is that file: git keeps only where the link leads.
    """
    try:
        top = Path(run_git(folder, "rev-parse", "--show-toplevel")).resolve()
        names = run_git(top, "ls-files", "-z", "--recurse-submodules").split("\0")
    except (NotRun, ToolError):
        return None
    return frozenset(Path(os.path.abspath(top / name)) for name in names if name)  # noqa: PTH100  # as git names it


def ask_git(folder: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
    """What git prints in a folder; "" where git is missing or has no answer."""
    try:
        return run_git(folder, *arguments, environment=environment)
    except (NotRun, ToolError):
        return ""


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

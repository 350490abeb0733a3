"""What git knows of a project: its remote and its branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from latebind.errors import ToolError
from latebind.system.programs import which
from latebind.system.run import run

if TYPE_CHECKING:
    from pathlib import Path

_TIME_LIMIT = 30.0


def git_output(root: Path, *arguments: str) -> str:
    """What git prints; "" when git is missing or fails. Only addresses without a user's name or secret are used."""
    git = which("git")
    if git is None:
        return ""
    try:
        ended = run([git, *arguments], cwd=root, timeout=_TIME_LIMIT, check=False)
    except ToolError:
        return ""
    output = ended.output.strip()
    secret = "://" in output and "@" in output
    return (
        "" if ended.returncode or secret or (arguments[0] == "remote" and not output.startswith("https://")) else output
    )


def find_branch(repository: Path) -> str:
    """The branch that a repository is developed on: the remote's default, else the current one, else main."""
    if not (repository / ".git").exists():
        return "main"
    remote = git_output(repository, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
    return (
        remote.removeprefix("origin/") or git_output(repository, "symbolic-ref", "--quiet", "--short", "HEAD") or "main"
    )

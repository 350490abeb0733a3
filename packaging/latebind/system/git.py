"""Asks git about the repository of a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from latebind.backend.programs import which
from latebind.errors import NotRun, ToolError
from latebind.system.run import run


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
    """The same; "" where git is missing or has no answer."""
    try:
        return run_git(folder, *arguments, environment=environment)
    except (NotRun, ToolError):
        return ""

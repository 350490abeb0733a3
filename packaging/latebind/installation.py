"""Says how to install this latebind elsewhere: in a workflow, for a build, on the machine of a project's developers."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from latebind import __version__
from latebind.system.git import ask_git

REPOSITORY = "latebind/latebind"
_COMMIT = re.compile(r"[0-9a-f]{40}")


def list_requirements(*extras: str) -> tuple[str, ...]:
    """What pip installs to get this latebind, without spaces: from git if it came from there, else its version.

    From git, pip needs loadcheck as well, which is in the same repository: an index may lack it, or have another one.
    """
    extra = f"[{','.join(extras)}]" if extras else ""
    if commit := find_commit():
        origin = f"git+https://github.com/{REPOSITORY}@{commit}"
        return f"loadcheck@{origin}#subdirectory=loadcheck", f"latebind{extra}@{origin}"
    return (f"latebind{extra}=={__version__}",)


@cache
def find_commit() -> str:
    """The commit that pip installed, from a repository or a clone of it (PEP 610); "" for an index or a file."""
    try:
        text = distribution("latebind").read_text("direct_url.json") or "{}"
    except PackageNotFoundError:
        return ""
    origin = json.loads(text)
    commit = origin.get("vcs_info", {}).get("commit_id", "")
    if "dir_info" in origin:
        folder = Path(url2pathname(urlsplit(origin["url"]).path))
        commit = ask_git(folder, "rev-parse", "HEAD") if (folder / ".git").exists() else ""
    return commit if _COMMIT.fullmatch(commit) else ""

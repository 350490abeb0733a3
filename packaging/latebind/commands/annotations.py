"""Shows problems of files as annotations in GitHub Actions, on the line that they are about."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from latebind.errors import ConfigError, LatebindError
from latebind.text import annotation

_LINE = re.compile(r"(?P<file>.+):(?P<line>\d+)")


def print_annotations(error: LatebindError, project: Path) -> None:
    """Write an annotation for each problem that names a file and a line; in GitHub Actions only.

    They go to stderr, since workflows write reports from stdout into the summary. `project` is the folder of -C, which
    relative names may begin at.
    """
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for problem in error.problems if isinstance(error, ConfigError) else (error,):
        place = _LINE.fullmatch(problem.where)
        if place is not None:
            message = " ".join(filter(None, (problem.message, problem.advice)))
            file = name_in_workspace(Path(place["file"]), project)
            print(annotation("error", message, file=file, line=place["line"]), file=sys.stderr)


def name_in_workspace(file: Path, project: Path) -> str:
    """A file as annotations name it: relative to the repository's checkout."""
    workspace = Path(os.environ.get("GITHUB_WORKSPACE", "")).resolve()
    path = next((path.resolve() for path in (project / file, file) if path.exists()), file)
    return path.relative_to(workspace).as_posix() if path.is_relative_to(workspace) else path.as_posix()

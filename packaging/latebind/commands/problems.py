"""Prints problems to stderr: `error:` and `help:`; in GitHub Actions as annotations, too."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from latebind.errors import AnyError, ConfigError
from latebind.text import annotation, printable_lines
from loadcheck import fit_terminal, shows_colors

_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+)|: (?P<key>\S+))?")
_BOLD_RED, _BOLD_CYAN, _PLAIN = "\033[1;31m", "\033[1;36m", "\033[0m"


def print_problems(error: AnyError, project: Path) -> None:
    """Print each problem of an error. `project` is the folder of -C, which names of files may be relative to."""
    problems = error.problems if isinstance(error, ConfigError) else (error,)
    for problem in problems:
        where = problem.where.replace("\n", "\\n")  # the name of a file must not look like a line of the message
        print_error(f"{where}: {problem.message}" if where else problem.message, problem.advice)
    for problem in problems:
        _print_annotation(problem, project)


def print_error(message: str, advice: str = "") -> None:
    """Print `error: message` and `help: advice`."""
    message, advice = map(printable_lines, (message, advice))
    message = f"error: {message.removeprefix('error: ')}"  # a program may have said so, too
    lines = [fit_terminal(message, {"error:": _BOLD_RED}, stream=sys.stderr)]
    if advice:  # with commands that people copy
        title = f"{_BOLD_CYAN}help:{_PLAIN}" if shows_colors(sys.stderr) else "help:"
        lines.append(f"{title} " + advice.replace("\n", "\n      "))
    print("\n".join(lines), file=sys.stderr)


def _print_annotation(problem: AnyError, project: Path) -> None:
    """Write an annotation for a problem with a file, in GitHub Actions only.

    It goes to stderr, since workflows write reports from stdout into the summary.
    """
    place = _PLACE.fullmatch(problem.where)
    if os.environ.get("GITHUB_ACTIONS") == "true" and place and (place["line"] or _is_file(place["file"], project)):
        message = " ".join(filter(None, (problem.message, problem.advice)))
        file = name_in_workspace(Path(place["file"]), project)
        print(annotation("error", message, file=file, line=place["line"]), file=sys.stderr)


def _is_file(name: str, project: Path) -> bool:
    return any(path.is_file() for path in (project / name, Path(name)))


def name_in_workspace(file: Path, project: Path) -> str:
    """A file as annotations name it: relative to the repository's checkout."""
    workspace = Path(os.environ.get("GITHUB_WORKSPACE", "")).resolve()
    path = next((path.resolve() for path in (project / file, file) if path.exists()), file)
    return path.relative_to(workspace).as_posix() if path.is_relative_to(workspace) else path.as_posix()

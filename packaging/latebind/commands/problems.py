"""Prints problems to stderr: `error:` and `help:`; in GitHub Actions as annotations, too."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from latebind.errors import ConfigError, LatebindError
from latebind.text import annotation, printable_lines

_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+)|: (?P<key>\S+))?")
_BOLD_RED, _BOLD_CYAN, _PLAIN = "\033[1;31m", "\033[1;36m", "\033[0m"


def print_problems(error: LatebindError, project: Path) -> None:
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
    lines = [f"{_paint('error:', _BOLD_RED)} {message.removeprefix('error: ')}"]  # a program may have said so, too
    if advice:
        lines.append(f"{_paint('help:', _BOLD_CYAN)} " + advice.replace("\n", "\n      "))
    print("\n".join(filter(None, lines)), file=sys.stderr)


def _paint(text: str, style: str) -> str:
    """Text in color on a terminal that shows it (no-color.org)."""
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")
    return f"{style}{text}{_PLAIN}" if is_terminal else text


def _print_annotation(problem: LatebindError, project: Path) -> None:
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

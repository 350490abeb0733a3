"""What several commands share: options and reading the project."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from latebind.config.project import Project

Command = Callable[[argparse.Namespace], int]
Add = Callable[[str, Command, str], argparse.ArgumentParser]


_FILE_EXTENSIONS = (".json", ".html", ".md", ".whl")
"""Extensions of what latebind writes, which nobody means as the name of a folder."""


def count(text: str) -> int:
    """A whole number of at least 1, for argparse."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number of at least 1")
    return int(text)


def new_folder(text: str) -> Path:
    """A folder to write to, for argparse; refused before any work is done if it is a file or named like one."""
    path = Path(text)
    if path.is_file():
        raise argparse.ArgumentTypeError(f"{text} is a file: name a folder")
    if path.suffix in _FILE_EXTENSIONS and not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is named like a file: name a folder")
    return path


def add_machines(command: argparse.ArgumentParser) -> None:
    """The option that names the folder of machine files."""
    text = "folder with files that describe machines for other targets (default: $LATEBIND_MACHINES, then .machines)"
    command.add_argument("--machines", type=Path, metavar="DIR", help=text)


def add_format(command: argparse.ArgumentParser) -> None:
    """The option for machine-readable output."""
    command.add_argument(
        "--format", choices=("text", "json"), default="text", help="format of the output (default: text)"
    )


def add_target(command: argparse.ArgumentParser, default: str = "this machine's") -> None:
    """The option that names targets: repeated, or separated by commas."""
    text = f"targets such as linux-x64,win-x64, or all (default: {default})"
    command.add_argument("--target", action="extend", type=_words, metavar="RID[,RID]", help=text)


def _words(text: str) -> list[str]:
    """The names between commas, for argparse."""
    names = [part.strip() for part in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} has an empty name: write linux-x64,win-x64 or leave the option out")
    return names


def print_json(document: object) -> None:
    """Print a result as JSON."""
    import json

    print(json.dumps(document, indent=2))


def open_project(arguments: argparse.Namespace) -> Project:
    """The project of -C and --workdir, read now; commands that change it use lock_project(). Raises LatebindError."""
    from latebind.config.project import find_project, read_project

    return read_project(*find_project(arguments.project, arguments.workdir))


def lock_project(work: Callable[[argparse.Namespace, Project], int]) -> Command:
    """A command that holds the lock of its working folder, in which it reads the project once."""

    def command(arguments: argparse.Namespace) -> int:
        from latebind.backend.files import source_date_epoch
        from latebind.config.project import find_project, read_project
        from latebind.system.lock import exclusive

        source_date_epoch()  # reports a wrong value before a compiler does
        file, workdir = find_project(arguments.project, arguments.workdir)
        with exclusive(workdir):
            return work(arguments, read_project(file, workdir))

    return command


def describe_dist(project: Project) -> None:
    """Report which packages dist/ lacks or has out of date, with the command that makes them."""
    from latebind.pack.pack import inspect_dist
    from latebind.system.log import LOG

    present = inspect_dist(project)
    if present.outdated:
        again = ",".join(present.targets)
        LOG.say(f"out of date in dist/: {', '.join(present.outdated)}\n  To pack again: latebind pack --target {again}")
    if present.missing:
        LOG.say(f"not in dist/: packages for {', '.join(present.missing)}\n  To pack all: latebind pack --target all")

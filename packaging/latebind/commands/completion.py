"""The command `completion`: a script that completes commands, options and files in a shell."""

from __future__ import annotations

import argparse

SHELLS = ("bash", "zsh", "fish", "powershell", "tcsh")
_FILES = frozenset({
    "changelog", "check", "dist", "folder", "machines", "merge", "output", "paths", "previous", "project",
    "headers", "report", "sources", "workdir",
})  # fmt: skip


def complete(parser: argparse.ArgumentParser, shell: str) -> int:
    """Print the script of a shell."""
    import shtab

    for action in _actions(parser):
        if action.dest in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # where shtab reads it
    print(shtab.complete(parser, shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """All actions of a parser and of its commands."""
    actions = list(parser._actions)  # noqa: SLF001  # argparse has no other way to ask
    for action in parser._actions:  # noqa: SLF001
        if isinstance(action.choices, dict):
            actions += [nested for command in action.choices.values() for nested in _actions(command)]
    return actions

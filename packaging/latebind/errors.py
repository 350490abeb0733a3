"""Defines errors with four parts: what, where, why, and what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class LatebindError(Exception):
    """A problem that the user can act on.

    `message` says what went wrong and why, `where` names the file (and line) or the part of the input, `advice`
    is the next thing to do. `excerpt` shows the line of the file that `where` names, with marks below what is wrong.
    The command line prints the four and exits with `exit_status`.
    """

    exit_status = 2

    def __init__(self, message: str, *, where: str = "", advice: str = "", excerpt: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.advice = advice
        self.excerpt = excerpt

    def __str__(self) -> str:
        """One to three lines: `where: message`, then the advice."""
        head = f"{self.where}: {self.message}" if self.where else self.message
        return f"{head}\n  {self.advice}" if self.advice else head


class ConfigError(LatebindError):
    """The configuration cannot be used. Carries every problem that was found, not only the first."""

    def __init__(self, problems: Sequence[LatebindError]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


class InputError(LatebindError):
    """An input file or folder cannot be read, or does not have the expected form."""


class ToolError(LatebindError):
    """A program that latebind ran failed, is missing, or ran past its time limit."""


class BuildError(LatebindError):
    """The native build or the packaging of its result failed."""


class NotRun(LatebindError):  # noqa: N818  # not an error: a state with a reason, raised where a step cannot run
    """A step cannot run on this machine. `reason` is one of `latebind.model.NOT_RUN_REASONS`."""

    def __init__(self, reason: str, message: str, *, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.reason = reason

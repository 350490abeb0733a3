"""Defines errors with four parts: what, where, why, and what to do next."""

from __future__ import annotations


class LatebindError(Exception):
    """A problem that the user can act on.

    `message` says what went wrong and why, `where` names the file (and line) or the part of the input, `advice`
    is the next thing to do. The command line prints them and exits with `exit_status`.
    """

    exit_status = 2

    def __init__(self, message: str, *, where: str = "", advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.advice = advice

    def __str__(self) -> str:
        """One to three lines: `where: message`, then the advice."""
        head = f"{self.where}: {self.message}" if self.where else self.message
        return f"{head}\n  {self.advice}" if self.advice else head


class InputError(LatebindError):
    """An input file or folder cannot be read, or does not have the expected form."""


class ToolError(LatebindError):
    """A program that latebind ran failed, is missing, or ran past its time limit."""


class BuildError(LatebindError):
    """The native build or the packaging of its result failed."""


class NotRun(LatebindError):  # noqa: N818  # not an error: a state with a reason, raised where a step cannot run
    """A step cannot run on this machine. `reason` is a short code, such as `no-compiler`."""

    def __init__(self, reason: str, message: str, *, advice: str = "") -> None:
        super().__init__(message, advice=advice)
        self.reason = reason

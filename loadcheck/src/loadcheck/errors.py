"""Defines errors with four parts: what, where, why, and what to do next."""

from __future__ import annotations


class UserError(Exception):
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


class InputError(UserError):
    """An input file or folder cannot be read, or does not have the expected form."""

"""Defines errors with four parts: what, where, why, and what to do next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import loadcheck
from latebind.backend import errors as backend
from latebind.backend.errors import BuildError, LatebindError, NotRun, ToolError

__all__ = [
    "ANY_ERROR",
    "INPUT_ERRORS",
    "NOT_RUN_REASONS",
    "AnyError",
    "BuildError",
    "ConfigError",
    "InputError",
    "LatebindError",
    "NotRun",
    "ToolError",
]

AnyError = LatebindError | loadcheck.UserError
ANY_ERROR = (LatebindError, loadcheck.UserError)
"""For `except`: what the build backend, latebind and loadcheck raise."""
INPUT_ERRORS = (backend.InputError, loadcheck.InputError)
"""For `except`: what all three raise for a file that cannot be read."""

NOT_RUN_REASONS: Mapping[str, str] = {
    "no-program": "a program that makes or runs packages of this kind is not on this machine",
    "no-index": "the package index cannot be reached",
    "no-distribution": "the index has no such distribution for this Python or platform",
    "no-compiler": "there is no C compiler for this target on this machine",
    "no-runtime": "the runtime that the package binds does not exist for this target",
    "excluded": "the project's latebind.toml excludes the package from this target",
    "no-interpreter": "there is no CPython of this kind on this machine",
    "no-device": "the execution provider was registered, but this machine has no device for it",
    "no-host": "no program on this machine can load the plugin",
    "no-machine": "nothing here runs binaries of this target",
    "no-main": "the consumer has no main() that the scenario may call",
    "no-access": "the scenario runs the consumer as another user, who cannot reach the working folder",
    "no-sandbox": "the scenario changes the system itself, so it runs only on an emulated machine",
    "not-emulated": "an emulated machine cannot run this scenario",
    "not-built": "the package that the test case needs was not made",
}
"""The reasons for which a test case or a step may be *not run*, apart from those of ecosystems (REASONS)."""


class InputError(backend.InputError, loadcheck.InputError):
    """An input file or folder cannot be read, or does not have the expected form. loadcheck reports it as its own."""


class ConfigError(LatebindError, loadcheck.UserError):
    """The configuration cannot be used. Carries every problem that was found, not only the first."""

    def __init__(self, problems: Sequence[LatebindError]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))

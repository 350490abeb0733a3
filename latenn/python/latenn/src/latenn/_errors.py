"""One exception class for each status code of the C library; all of them pickle."""

from __future__ import annotations

from typing import Any


class LatennError(Exception):
    """Something that latenn could not do.

    `code` is the number from latenn.h; `report` is the loader's report, a dict, where a library could not be found.
    """

    code = 0

    def __init__(self, message: str, report: dict[str, Any] | None = None) -> None:
        super().__init__(message, report)
        self.message = message
        self.report = report

    def __str__(self) -> str:
        return self.message


class InvalidArgumentError(LatennError, ValueError):
    """A name, type, shape or option is wrong."""

    code = 1


class BackendMissingError(LatennError, ImportError):
    """No backend package serves the model."""

    code = 2


class BackendUnusableError(LatennError, ImportError):
    """A backend was found and cannot be used."""

    code = 3


class RuntimeUnavailableError(LatennError, ImportError):
    """The backend's runtime is missing, too old or broken; `report` says what was tried."""

    code = 4


class ModelError(LatennError, ValueError):
    """The runtime refuses the model."""

    code = 5


class UnsupportedError(LatennError, NotImplementedError):
    """The model uses a kind of value that latenn does not carry."""

    code = 6


class ComputeError(LatennError, RuntimeError):
    """The runtime failed while it computed."""

    code = 7


class LatennMemoryError(LatennError, MemoryError):
    """Out of memory."""

    code = 8


class LatennOSError(LatennError, OSError):
    """A file cannot be read."""

    code = 9


class CancelledError(LatennError):
    """`RunOptions.cancel` ended the run."""

    code = 10


class LatennWarning(UserWarning):
    """The runtime works but something about it deserves a look: newer than known, or loaded twice."""


_CLASSES = {kind.code: kind for kind in LatennError.__subclasses__()}


def make(code: int, message: str, report: str) -> LatennError:
    """The exception for a status. `report` is JSON or ""."""
    import json  # noqa: PLC0415  # only errors and reports need it

    return _CLASSES.get(code, LatennError)(message, json.loads(report) if report else None)

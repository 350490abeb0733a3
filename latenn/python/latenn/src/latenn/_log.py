"""Passes what a runtime logs of a model on to a logger of Python's."""

from __future__ import annotations

import ctypes
import logging

from latenn._errors import InvalidArgumentError

_LEVELS = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL)
"""By the runtime's severity: verbose, info, warning, error, fatal."""

FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p)
"""latenn_log_fn."""

_loggers: dict[int, logging.Logger] = {}
"""By the number that C hands back. Kept, as logging keeps loggers: a model may log until its last value is gone."""


def _write(user: int | None, severity: int, category: bytes, message: bytes) -> None:
    """Called by the runtime, on any thread."""
    logger = _loggers[user or 0]
    level = _LEVELS[min(max(severity, 0), len(_LEVELS) - 1)]
    logger.log(level, "%s", message.decode("utf-8", "replace"), extra={"category": category.decode("utf-8", "replace")})


write = FUNCTION(_write)
"""For C. It is called until the last model is gone, and so is kept here."""


def number(logger: object) -> int:
    """The number that stands for a logger in C. Raises InvalidArgumentError for anything else than a logger."""
    if not isinstance(logger, logging.Logger):
        raise InvalidArgumentError(f"logger is {logger!r}; give a logging.Logger, such as logging.getLogger('latenn').")
    _loggers[id(logger)] = logger
    return id(logger)

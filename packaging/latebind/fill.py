"""Fills the templates of latebind that a native build needs."""

from __future__ import annotations

from latebind.backend import fill as backend
from latebind.system.resources import folder


def fill(template: str, /, **values: str) -> str:
    """The text of `templates/<template>.in`, as the build backend fills its own.

    Raises KeyError for a placeholder without a value.
    """
    return backend.fill(template, folder("templates"), **values)

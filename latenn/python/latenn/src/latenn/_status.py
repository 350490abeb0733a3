"""Statuses of the C library as exceptions."""

from __future__ import annotations

from latenn import _native
from latenn._errors import make


def check(status: int | None) -> None:
    """Raise what a status says; the status is released."""
    if not status:
        return
    library = _native.library()
    try:
        code = library.latenn_status_code(status)
        message = library.latenn_status_message(status).decode("utf-8", "replace")
        report = library.latenn_status_report(status).decode("utf-8", "replace")
    finally:
        library.latenn_status_release(status)
    raise make(code, message, report)

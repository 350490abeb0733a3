"""From a latenn_status to an exception."""

from __future__ import annotations

from latenn import _backends, _native
from latenn._errors import RuntimeUnavailableError, make


def check(status: int | None, searched: str | None = None) -> None:
    """Raise what a status says.

    `searched` is the backend ("" for any) whose runtime was looked for in this environment: what metadata knows of it
    goes before the sentence of a missing runtime. None where an explicit path was the only place that was tried.
    """
    if not status:
        return
    library = _native.library()
    try:
        code = library.latenn_status_code(status)
        message = library.latenn_status_message(status).decode("utf-8", "replace")
        report = library.latenn_status_report(status).decode("utf-8", "replace")
    finally:
        library.latenn_status_release(status)
    if searched is not None and code == RuntimeUnavailableError.code:
        import json  # noqa: PLC0415  # only a failure needs it

        runtime = json.loads(report or "{}").get("runtime")
        message = f"{_backends.note(str(runtime or searched))} {message}".lstrip()
    raise make(code, message, report)

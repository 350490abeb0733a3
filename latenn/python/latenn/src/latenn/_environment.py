"""Environment variables, read as the core reads them: a process with more rights than its user takes none."""

from __future__ import annotations

import ctypes

from latenn import _native


def variable(name: str) -> str | None:
    """The value of a variable; None when it is unset or empty, or when this process has raised rights."""
    library = _native.library()
    text = library.latenn_environment(name.encode())
    try:
        return ctypes.string_at(text).decode("utf-8", "surrogateescape") if text else None
    finally:
        library.latenn_text_release(text)

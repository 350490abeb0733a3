"""Finds the folder for what is made once per user and machine, such as zig's compiled standard libraries."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

CACHE_VARIABLE = "LATEBIND_CACHE"
"""The environment variable that names another folder."""
_PLACES = {
    "win32": (("LOCALAPPDATA", "latebind/Cache"),),
    "darwin": (("HOME", "Library/Caches/latebind"),),
}
_XDG = (("XDG_CACHE_HOME", "latebind"), ("HOME", ".cache/latebind"))
"""XDG Base Directory Specification."""


def user_cache(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path | None:
    """The user's cache folder of latebind, made if needed; None when there is none that this user alone may change.

    Compilers read what is in it.
    """
    variables = ((CACHE_VARIABLE, ""), *_PLACES.get(platform, _XDG))
    listed = ((name, Path(base, rest)) for name, rest in variables if (base := environment.get(name)))
    # A relative path would begin at the working folder: XDG has it ignored, and only latebind's own was meant for it.
    folder = next((path for name, path in listed if path.is_absolute() or name == CACHE_VARIABLE), None)
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder.resolve() if os.access(folder, os.W_OK) and _is_own(folder) else None


def callers_home() -> Path:
    """The user's home; a folder that does not exist when the system does not know the user."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(os.devnull) / "home"


def _is_own(folder: Path) -> bool:
    """Whether no other user may have put files there."""
    if sys.platform == "win32":
        return True
    status = folder.stat()
    return status.st_uid in {0, os.geteuid()} and not status.st_mode & stat.S_IWOTH

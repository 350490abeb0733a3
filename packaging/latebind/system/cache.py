"""Finds the folder for what is made once per user and machine, such as zig's compiled standard libraries."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

CACHE_VARIABLE = "LATEBIND_CACHE"
"""The environment variable that names another folder."""
_PLACES = {
    "win32": (("LOCALAPPDATA", "latebind/Cache"),),
    "darwin": (("HOME", "Library/Caches/latebind"),),
}
_XDG = (("XDG_CACHE_HOME", "latebind"), ("HOME", ".cache/latebind"))
"""XDG Base Directory Specification."""


def user_cache(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path | None:
    """The user's cache folder of latebind, made if needed; None when no place is writable."""
    places = ((CACHE_VARIABLE, ""), *_PLACES.get(platform, _XDG))
    folder = next((Path(base, rest) for name, rest in places if (base := environment.get(name))), None)
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return folder.resolve() if os.access(folder, os.W_OK) else None

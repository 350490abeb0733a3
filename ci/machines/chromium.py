"""Where the machine has a Chromium for the tests that open the HTML report in a browser. Installs nothing.

On Debian: apt-get install --no-install-recommends chromium-headless-shell; elsewhere any Chromium or Chrome, on PATH or
named by LATEBIND_CHROMIUM.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def chromium() -> Path | None:
    """The program, or None."""
    named = os.environ.get("LATEBIND_CHROMIUM", "")
    program = shutil.which(named) if named else next(filter(None, map(shutil.which, _NAMES)), None)
    return Path(program) if program else None

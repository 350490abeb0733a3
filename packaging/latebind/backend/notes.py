"""The log of a build: whoever runs it decides where the lines go."""

from __future__ import annotations

import logging

NOTES = logging.getLogger("latebind")
"""Information is for everybody, debug messages for those who ask."""
_MINUTE, _EXACT = 60, 10


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `2 min 5 s`."""
    if seconds < _EXACT:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), _MINUTE)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"

"""Imports LIEF while Ctrl-C waits.

An exception that passes through LIEF's own initialization ends the process with an abort, and KeyboardInterrupt is one.
A quarter of a second later it is an ordinary interruption.
"""

from __future__ import annotations

import signal
import sys

__all__ = ["lief"]

if sys.platform == "win32":  # where a signal cannot be held back
    import lief
else:
    _before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        import lief
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, _before)

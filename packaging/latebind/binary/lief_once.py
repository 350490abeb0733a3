"""Imports LIEF with Ctrl-C blocked.

An exception that passes through LIEF's initialization, such as KeyboardInterrupt, aborts the process. The signal is
delivered a quarter of a second later instead.
"""

from __future__ import annotations

import signal
import sys

__all__ = ["lief"]

if sys.platform == "win32":  # which cannot block signals
    import lief
else:
    _before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        import lief
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, _before)

"""Solves formulas with the Z3 that is installed."""

import ctypes
import sys
from pathlib import Path

from ._runtime import load_runtime

load_runtime()  # where Python finds Z3; the stub in the library takes what is loaded

_NAME = {"linux": "libzsolve.so", "darwin": "libzsolve.dylib"}[sys.platform]
_LIBRARY = ctypes.CDLL(str(Path(__file__).with_name(_NAME)))


def run(script):
    """Z3's answer to commands of SMT-LIB 2; without Z3, a sentence that says what fixes it."""
    answer = ctypes.create_string_buffer(1 << 16)
    _LIBRARY.zsolve_run(script.encode(), answer, ctypes.c_size_t(len(answer)))
    return answer.value.decode()

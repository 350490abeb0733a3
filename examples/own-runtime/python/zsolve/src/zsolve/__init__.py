"""Solves formulas with the Z3 that is installed."""

import ctypes
import json
import sys
from importlib import metadata
from pathlib import Path

_NAME = {"linux": "libzsolve.so", "darwin": "libzsolve.dylib"}[sys.platform]
_LIBRARY = ctypes.CDLL(str(Path(__file__).with_name(_NAME)))


def open_runtime(path=None, minimum=None):
    """Bind Z3 and return the loader's report. Raises OSError with a sentence that says what fixes it."""
    try:  # found by its metadata, not imported
        folder = str(metadata.distribution("z3-solver").locate_file("z3/lib"))
    except metadata.PackageNotFoundError:
        folder = None
    words = [text.encode() if text else None for text in (folder, path, minimum, 'pip install "zsolve[solver]"')]
    answer = ctypes.create_string_buffer(1 << 16)
    outcome = _LIBRARY.zsolve_open(*words, answer, ctypes.c_size_t(len(answer)))
    report = json.loads(answer.value)
    if outcome:
        raise OSError(report["sentence"])
    return report


def run(script):
    """Z3's answer to commands of SMT-LIB 2. Raises OSError without Z3."""
    open_runtime()
    answer = ctypes.create_string_buffer(1 << 16)
    if _LIBRARY.zsolve_run(script.encode(), answer, ctypes.c_size_t(len(answer))):
        raise OSError(answer.value.decode())
    return answer.value.decode()

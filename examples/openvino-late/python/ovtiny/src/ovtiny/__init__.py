"""Runs a small model with the OpenVINO that is installed."""

import ctypes
from pathlib import Path

_LIBRARY = ctypes.CDLL(str(Path(__file__).with_name("libovtiny.so")))


def run(model, values):
    """The model's output for those numbers. Raises RuntimeError with what OpenVINO, or its absence, says."""
    x = (ctypes.c_float * len(values))(*values)
    y = (ctypes.c_float * len(values))()
    why = ctypes.create_string_buffer(4000)
    sizes = ctypes.c_size_t(len(model)), ctypes.c_int64(len(values)), ctypes.c_size_t(len(why))
    if _LIBRARY.ovtiny_run(model, sizes[0], x, y, sizes[1], why, sizes[2]):
        raise RuntimeError(why.value.decode())
    return list(y)

"""Runs a small model with the OpenVINO that is installed."""

import ctypes
import json
from importlib import metadata
from pathlib import Path

_ADVICE = 'pip install "ovtiny[cpu]"'
_LIBRARY = ctypes.CDLL(str(Path(__file__).with_name("libovtiny.so")))


def open_runtime(path=None, minimum=None):
    """Bind the runtime and return the loader's report. Raises OSError with a sentence that says what fixes it."""
    try:
        folder = str(metadata.distribution("openvino").locate_file("openvino/libs"))  # by its metadata, not imported
    except metadata.PackageNotFoundError:
        folder = None
    words = [text.encode() if text else None for text in (folder, path, minimum, _ADVICE)]
    answer = ctypes.create_string_buffer(1 << 16)
    outcome = _LIBRARY.ovtiny_open(*words, answer, ctypes.c_size_t(len(answer)))
    report = json.loads(answer.value)
    if outcome:
        raise OSError(report["sentence"])
    return report


def run(model, values):
    """The model's output for those numbers. Raises OSError without a runtime, ValueError for what it refuses."""
    open_runtime()
    x = (ctypes.c_float * len(values))(*values)
    y = (ctypes.c_float * len(values))()
    why = ctypes.create_string_buffer(1000)
    sizes = ctypes.c_size_t(len(model)), ctypes.c_int64(len(values)), ctypes.c_size_t(len(why))
    if _LIBRARY.ovtiny_run(model, sizes[0], x, y, sizes[1], why, sizes[2]):
        raise ValueError(why.value.decode())
    return list(y)

"""Runs a small model with the ONNX Runtime that is installed."""

import ctypes
import json
import sys
from importlib import metadata
from pathlib import Path

_ADVICE = 'pip install "tinyrun[cpu]"'
_NAME = {"linux": "libtinyrun.so", "darwin": "libtinyrun.dylib"}[sys.platform]
_LIBRARY = ctypes.CDLL(str(Path(__file__).with_name(_NAME)))


def open_runtime(path=None, minimum=None):
    """Bind the runtime and return the loader's report. Raises OSError with a sentence that says what fixes it."""
    folder, installed = None, ""
    try:
        runtime = metadata.distribution("onnxruntime")  # found by its metadata, not imported
        folder, installed = str(runtime.locate_file("onnxruntime/capi")), runtime.version
    except metadata.PackageNotFoundError:
        pass
    words = [text.encode() if text else None for text in (folder, path, minimum, _ADVICE)]
    answer = ctypes.create_string_buffer(1 << 16)
    outcome = _LIBRARY.tinyrun_open(*words, answer, ctypes.c_size_t(len(answer)))
    report = json.loads(answer.value)
    if not outcome:
        return report
    if installed and not path and not list(Path(folder).glob("*onnxruntime.*")):
        need = f"{report['minimum']} or newer is needed. Get it with: pip install --upgrade onnxruntime"
        raise OSError(f"onnxruntime {installed} is installed and has no shared library; onnxruntime {need}")
    raise OSError(report["sentence"])


def run(model, values):
    """The model's output for those numbers. Raises OSError without a runtime, ValueError for what it refuses."""
    open_runtime()
    x = (ctypes.c_float * len(values))(*values)
    y = (ctypes.c_float * len(values))()
    why = ctypes.create_string_buffer(1000)
    sizes = ctypes.c_size_t(len(model)), ctypes.c_int64(len(values)), ctypes.c_size_t(len(why))
    if _LIBRARY.tinyrun_run(model, sizes[0], x, y, sizes[1], why, sizes[2]):
        raise ValueError(why.value.decode())
    return list(y)

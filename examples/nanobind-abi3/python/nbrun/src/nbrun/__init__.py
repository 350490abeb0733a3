"""Runs a small model with the ONNX Runtime that is installed."""

import json
from importlib import metadata

from nbrun._nbrun import bind, run

__all__ = ["open_runtime", "run"]


def open_runtime(path="", minimum=""):
    """Bind the runtime, as run() needs, and return the loader's report. Raises RuntimeError that says what fixes it."""
    try:  # found by its metadata, not imported
        folder = str(metadata.distribution("onnxruntime").locate_file("onnxruntime/capi"))
    except metadata.PackageNotFoundError:
        folder = ""
    return json.loads(bind(folder, path, minimum, 'pip install "nbrun[cpu]"'))

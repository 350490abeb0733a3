"""Run a model with a runtime that someone else supplies.

    import latenn
    model = latenn.load("model.onnx")
    outputs = model.run({"x": array})

latenn holds no runtime. A backend package (`latenn-onnxruntime`) finds the installed one when a model first needs it.
"""

from __future__ import annotations

from latenn._binding import Binding
from latenn._errors import (
    BackendMissingError,
    BackendUnusableError,
    CancelledError,
    ComputeError,
    InvalidArgumentError,
    LatennError,
    LatennWarning,
    ModelError,
    RuntimeUnavailableError,
    UnsupportedError,
)
from latenn._model import Model, load, runtime_report
from latenn._native import version
from latenn._plugins import plugin_ep
from latenn._run_options import RunOptions
from latenn._runner import Port
from latenn._tensor import Tensor

__all__ = [
    "BackendMissingError",
    "BackendUnusableError",
    "Binding",
    "CancelledError",
    "ComputeError",
    "InvalidArgumentError",
    "LatennError",
    "LatennWarning",
    "Model",
    "ModelError",
    "Port",
    "RunOptions",
    "RuntimeUnavailableError",
    "Tensor",
    "UnsupportedError",
    "load",
    "plugin_ep",
    "runtime_report",
]

__version__ = version()

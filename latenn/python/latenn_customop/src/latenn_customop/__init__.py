"""A model that any backend of latenn runs, as one node of an ONNX graph.

    options = onnxruntime.SessionOptions()
    latenn_customop.register(options)
    session = onnxruntime.InferenceSession("wrapped.onnx", options)

`wrap` makes such graphs; it alone needs the package onnx.
"""

from __future__ import annotations

from latenn_customop._register import library_path, register
from latenn_customop._wrap import wrap

__all__ = ["library_path", "register", "wrap"]

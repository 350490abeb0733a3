"""Runs a small model with the ONNX Runtime that is installed."""

from nbrun._nbrun import run

__all__ = ["run"]

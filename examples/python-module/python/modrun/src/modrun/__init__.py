"""Runs a small model with the ONNX Runtime that is installed."""

from modrun._modrun import run

__all__ = ["run"]

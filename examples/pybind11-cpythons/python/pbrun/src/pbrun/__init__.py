"""Runs a small model with the ONNX Runtime that is installed."""

from pbrun._pbrun import run

__all__ = ["run"]

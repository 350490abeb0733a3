"""The operator oddops::Square: `options.register_custom_ops_library(oddops.library())`."""

from pathlib import Path


def library():
    """The file to be given to onnxruntime.SessionOptions.register_custom_ops_library()."""
    return str(Path(__file__).with_name("liboddops.so"))

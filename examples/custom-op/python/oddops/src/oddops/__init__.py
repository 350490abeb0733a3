"""The operator oddops::Square: `options.register_custom_ops_library(oddops.get_library_path())`."""

from pathlib import Path


def get_library_path():
    """The file to be given to onnxruntime.SessionOptions.register_custom_ops_library()."""
    return str(Path(__file__).with_name("liboddops.so"))

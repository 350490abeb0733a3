"""Where the library of this package is."""

from pathlib import Path


def get_library_path():
    """Its path, for ctypes.CDLL() or dlopen()."""
    return str(Path(__file__).with_name("libiwasm.so.2"))

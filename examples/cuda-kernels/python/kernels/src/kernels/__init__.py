"""Compiles CUDA C++ to PTX with the NVRTC that is installed."""

import ctypes
import sys
from pathlib import Path

_NAME = {"linux": "libkernels.so", "win32": "kernels.dll"}[sys.platform]
_LIBRARY = ctypes.CDLL(str(Path(__file__).with_name(_NAME)))


def compile_kernel(source: str) -> str:
    """The PTX of a kernel. Raises RuntimeError with what fixes it."""
    text = ctypes.create_string_buffer(1 << 20)
    result = _LIBRARY.kernels_compile(source.encode(), text, ctypes.c_size_t(len(text)))
    if result:
        raise RuntimeError(text.value.decode())
    return text.value.decode()

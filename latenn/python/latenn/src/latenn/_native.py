"""ctypes declarations of latenn.h; each line mirrors the header and nothing here decides anything."""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from functools import cache
from pathlib import Path

from latenn import _forks

ABI = 1
_NAMES = {"win32": "latenn_core.dll", "darwin": "liblatenn_core.dylib"}


class Tensor(Structure):
    """latenn_tensor."""

    _fields_ = (
        ("type", c_int32),
        ("rank", c_int32),
        ("shape", POINTER(c_int64)),
        ("data", c_void_p),
        ("bytes", c_size_t),
        ("offsets", POINTER(c_size_t)),
    )


class Port(Structure):
    """latenn_port."""

    _fields_ = (
        ("name", c_char_p),
        ("type", c_int32),
        ("rank", c_int32),
        ("shape", POINTER(c_int64)),
        ("dimensions", POINTER(c_char_p)),
    )


class Option(Structure):
    """latenn_option."""

    _fields_ = (("key", c_char_p), ("value", c_char_p))


class File(Structure):
    """latenn_file."""

    _fields_ = (("name", c_char_p), ("data", c_void_p), ("size", c_size_t))


class LoadOptions(Structure):
    """latenn_load_options."""

    _fields_ = (
        ("size", c_uint32),
        ("backend", c_char_p),
        ("device", c_char_p),
        ("backend_directories", POINTER(c_char_p)),
        ("backend_directory_count", c_size_t),
        ("runtime_path", c_char_p),
        ("runtime_directories", POINTER(c_char_p)),
        ("runtime_directory_count", c_size_t),
        ("runtime_minimum", c_char_p),
        ("runtime_advice", c_char_p),
        ("options", POINTER(Option)),
        ("option_count", c_size_t),
        ("weights", c_void_p),
        ("weights_size", c_size_t),
        ("log", c_void_p),
        ("log_user", c_void_p),
        ("files", POINTER(File)),
        ("file_count", c_size_t),
    )


class Device(Structure):
    """latenn_device."""

    _fields_ = (("type", c_int32), ("id", c_int32))


CPU = Device(1, 0)

_FUNCTIONS = (
    ("latenn_abi", c_uint32, ()),
    ("latenn_version", c_char_p, ()),
    ("latenn_status_code", ctypes.c_int, (c_void_p,)),
    ("latenn_status_message", c_char_p, (c_void_p,)),
    ("latenn_status_report", c_char_p, (c_void_p,)),
    ("latenn_status_release", None, (c_void_p,)),
    ("latenn_forked", None, ()),
    ("latenn_load_path", c_void_p, (c_char_p, POINTER(LoadOptions), POINTER(c_void_p))),
    ("latenn_load_bytes", c_void_p, (c_char_p, c_size_t, POINTER(LoadOptions), POINTER(c_void_p))),
    ("latenn_model_release", None, (c_void_p,)),
    ("latenn_input_count", c_size_t, (c_void_p,)),
    ("latenn_output_count", c_size_t, (c_void_p,)),
    ("latenn_input", POINTER(Port), (c_void_p, c_size_t)),
    ("latenn_output", POINTER(Port), (c_void_p, c_size_t)),
    ("latenn_model_backend", c_char_p, (c_void_p,)),
    ("latenn_model_report", c_char_p, (c_void_p,)),
    ("latenn_model_metadata", c_void_p, (c_void_p, POINTER(c_void_p))),
    ("latenn_model_end_profile", c_void_p, (c_void_p, POINTER(c_void_p))),
    ("latenn_runtime_report", c_void_p, (POINTER(LoadOptions), POINTER(c_void_p))),
    ("latenn_text_release", None, (c_void_p,)),
    ("latenn_environment", c_void_p, (c_char_p,)),
    ("latenn_context_create", c_void_p, (c_void_p, POINTER(c_void_p))),
    ("latenn_context_release", None, (c_void_p,)),
    ("latenn_set_input", c_void_p, (c_void_p, c_size_t, POINTER(Tensor))),
    ("latenn_compute", c_void_p, (c_void_p,)),
    ("latenn_compute_with", c_void_p, (c_void_p, c_void_p)),
    ("latenn_run_create", c_void_p, (c_void_p, POINTER(Option), c_size_t, POINTER(c_void_p))),
    ("latenn_run_cancel", c_void_p, (c_void_p,)),
    ("latenn_run_release", None, (c_void_p,)),
    ("latenn_get_output", c_void_p, (c_void_p, c_size_t, POINTER(Tensor))),
    ("latenn_value_wrap", c_void_p, (c_void_p, POINTER(Tensor), Device, c_void_p, c_void_p, POINTER(c_void_p))),
    ("latenn_value_create", c_void_p, (c_void_p, c_int32, c_int32, POINTER(c_int64), Device, POINTER(c_void_p))),
    ("latenn_value_tensor", POINTER(Tensor), (c_void_p,)),
    ("latenn_value_device", Device, (c_void_p,)),
    ("latenn_value_read_only", ctypes.c_int, (c_void_p,)),
    ("latenn_value_release", None, (c_void_p,)),
    ("latenn_bind_input", c_void_p, (c_void_p, c_size_t, c_void_p)),
    ("latenn_bind_output", c_void_p, (c_void_p, c_size_t, c_void_p)),
    ("latenn_bind_output_device", c_void_p, (c_void_p, c_size_t, Device)),
    ("latenn_take_output", c_void_p, (c_void_p, c_size_t, POINTER(c_void_p))),
    ("latenn_value_to_dlpack", c_void_p, (c_void_p, ctypes.c_int, POINTER(c_void_p))),
    ("latenn_value_from_dlpack", c_void_p, (c_void_p, c_void_p, ctypes.c_int, POINTER(c_void_p))),
    ("latenn_dlpack_name", c_void_p, (ctypes.c_int, ctypes.c_int)),
    ("latenn_python_begin", None, (c_void_p, c_void_p)),
)


@cache
def library() -> ctypes.CDLL:
    """The core library, which is in this package. Raises ImportError when it is missing or of another interface."""
    path = _path(_NAMES.get(sys.platform, "liblatenn_core.so"))
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"latenn cannot load {path}: {error}. Install latenn again.") from error
    for name, result, arguments in _FUNCTIONS:
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = arguments
    if loaded.latenn_abi() != ABI:
        raise ImportError(
            f"{path} has interface {loaded.latenn_abi()}, this package needs {ABI}. Install latenn again."
        )
    _forks.in_child(loaded.latenn_forked)
    return loaded


def _path(name: str) -> Path:
    """Where a file of this package is: next to this one, but for an editable installation, which keeps it elsewhere."""
    folders = [str(Path(__file__).parent), *sys.modules["latenn"].__path__]
    paths = (Path(folder, name) for folder in folders)
    return next((path for path in paths if path.is_file()), Path(__file__).with_name(name))


def version() -> str:
    """The core library's version."""
    text: bytes = library().latenn_version()
    return text.decode()


def variable(name: str) -> str | None:
    """The value of an environment variable; None when it is unset or empty, or when this process has raised rights."""
    text = library().latenn_environment(name.encode())
    try:
        return ctypes.string_at(text).decode("utf-8", "surrogateescape") if text else None
    finally:
        library().latenn_text_release(text)

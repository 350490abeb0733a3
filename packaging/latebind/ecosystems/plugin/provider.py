"""Registers a plugin execution provider as a runtime would that it doesn't support: the status is the error.

It runs in a clean environment and knows nothing of latebind. The installed ONNX Runtime may be too old to register
anything from Python, so the library's entry point is called with that runtime's own interface.

    python provider.py --out RESULT --module onnxruntime_ep_tiny
"""

from __future__ import annotations

import argparse
import ctypes
import importlib
import importlib.metadata
import importlib.util
import json
import sys
from pathlib import Path

NOTHING_LOADED = 3
_GET_ERROR_MESSAGE = 2
"""Its place in OrtApi, the same in every version (onnxruntime_c_api.h)."""
_ROOM = 4


class Base(ctypes.Structure):
    """OrtApiBase."""

    _fields_ = (
        ("get_api", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)),
        ("get_version", ctypes.CFUNCTYPE(ctypes.c_char_p)),
    )


def main() -> int:
    """Write the result; the status is 0 when the provider accepts the runtime."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--module", required=True)
    arguments, _ = parser.parse_known_args()
    runtime = _runtime()
    provider = importlib.import_module(arguments.module).get_library_path()
    message, version = _refusal(runtime, provider)
    result: dict[str, object] = {"report": {"version": version}, "libraries": [str(runtime), provider]}
    result.update({"error": {"message": message}} if message else {"passed": ["registered"]})
    arguments.out.write_text(json.dumps(result), encoding="utf-8")
    return NOTHING_LOADED if message else 0


def _runtime() -> Path:
    spec = importlib.util.find_spec("onnxruntime")
    folder = Path(next(iter(spec.submodule_search_locations or ()) if spec else iter(()))) / "capi"
    names = ("libonnxruntime.so*", "libonnxruntime*.dylib", "onnxruntime.dll")
    return next(path for name in names for path in sorted(folder.glob(name)))


def _refusal(runtime: Path, provider: str) -> tuple[str, str]:
    """The message of the status, "" for none, and the runtime's version."""
    get_base = ctypes.CDLL(str(runtime)).OrtGetApiBase
    get_base.restype = ctypes.POINTER(Base)
    base = get_base()
    create = ctypes.CDLL(provider).CreateEpFactories
    create.restype = ctypes.c_void_p
    count, factories = ctypes.c_size_t(), (ctypes.c_void_p * _ROOM)()
    status = create(b"latebind", base, None, factories, ctypes.c_size_t(_ROOM), ctypes.byref(count))
    version = base.contents.get_version().decode()
    if not status:
        return "", version
    table = ctypes.cast(base.contents.get_api(1), ctypes.POINTER(ctypes.c_void_p))
    get_message = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.c_void_p)(table[_GET_ERROR_MESSAGE])
    return get_message(status).decode(), version


if __name__ == "__main__":
    sys.exit(main())

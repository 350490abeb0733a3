"""What `latebind verify` runs in each clean environment: a wasm program that calls wasi-nn, in an embedded iwasm."""

import argparse
import ctypes
import importlib
import json
import os
import sys
import tempfile
from pathlib import Path

PROGRAMS = {
    "onnxruntime": ("wasi_nn_onnx", "ONNXRUNTIME_LIB_PATH", ("onnx", "relu.onnx")),
    "openvino": ("wasi_nn_openvino", "OPENVINO_LIB_PATH", ("openvino", "relu.xml", "relu.bin")),
}
RIGHT = "0 0 1 2, 16 bytes"


def run_wasm(iwasm, folder, words):
    """What relu.wasm prints with those arguments; `folder` is its current one."""
    texts = [(ctypes.c_char_p * len(row))(*(word.encode() for word in row)) for row in (("relu", *words), (".",))]
    code, why = (folder / "relu.wasm").read_bytes(), ctypes.create_string_buffer(200)
    for name in ("wasm_runtime_load", "wasm_runtime_instantiate"):
        getattr(iwasm, name).restype = ctypes.c_void_p
    os.chdir(folder)
    with tempfile.TemporaryFile() as printed:
        out, err = os.dup(1), os.dup(2)
        os.dup2(printed.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        try:
            bytes_ = ctypes.create_string_buffer(code, len(code))
            module = ctypes.c_void_p(iwasm.wasm_runtime_load(bytes_, len(code), why, 200))
            iwasm.wasm_runtime_set_wasi_args(module, texts[1], 1, None, 0, None, 0, texts[0], len(words) + 1)
            instance = ctypes.c_void_p(iwasm.wasm_runtime_instantiate(module, 65536, 65536, why, 200))
            iwasm.wasm_application_execute_main(instance, len(words) + 1, texts[0])
            iwasm.wasm_runtime_deinstantiate(instance)
            iwasm.wasm_runtime_unload(module)
        finally:
            ctypes.CDLL(None).fflush(None)
            os.dup2(out, 1)
            os.dup2(err, 2)
        printed.seek(0)
        return printed.read().decode(errors="replace")  # the backend prints a text that was freed


def main(words=None):
    """Write the result; docs/consumers.md describes its form and the exit status."""
    parser = argparse.ArgumentParser()
    for name in ("--out", "--cases"):
        parser.add_argument(name, type=Path)
    for name in ("--runtime", "--runtime-path"):
        parser.add_argument(name)
    given, _ = parser.parse_known_args(words)
    module, variable, arguments = PROGRAMS[given.runtime]
    if given.runtime_path:
        os.environ[variable] = given.runtime_path
    import iwasm  # noqa: PLC0415  # the stub reads the variable when it binds

    engine = ctypes.CDLL(iwasm.get_library_path(), mode=ctypes.RTLD_GLOBAL)
    backend = importlib.import_module(module).get_library_path()
    ctypes.CDLL(backend, mode=ctypes.RTLD_GLOBAL)  # so that iwasm finds it by its name
    engine.wasm_runtime_init()
    printed = run_wasm(engine, given.cases, arguments)
    is_right = RIGHT in printed
    result = {
        "passed": [arguments[0]],
        "libraries": [iwasm.get_library_path(), backend],
    }  # the stub records the runtime
    given.out.write_text(json.dumps(result if is_right else {"error": {"message": printed}}), encoding="utf-8")
    return 0 if is_right else 3


if __name__ == "__main__":
    sys.exit(main())

"""Compiles relu.wasm, and copies the model: what `latebind verify` gives smoke.py."""

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
HEADERS = HERE / "native/wamr/core/iwasm/libraries/wasi-nn/include"

folder = Path(sys.argv[1])
# gnu89 takes the second semicolon of `WASI_NN_ERROR_TYPE`.
options = ("--target=wasm32-wasi", "-std=gnu89", "-Os", "-w", "-I", HEADERS)
subprocess.run(
    [sys.executable, "-m", "ziglang", "cc", *options, HERE / "relu.c", "-o", folder / "relu.wasm"], check=True
)
for name in ("relu.onnx", "relu.xml"):
    shutil.copy(HERE / name, folder)
(folder / "relu.bin").write_bytes(b"\0")

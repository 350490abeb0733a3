"""Tries installed wheels of latenn where they were just built, with nothing but what they need.

    python wheel.py

latenn alone says its version and, plainly, that there is no backend; with a backend and its runtime it computes. The
custom operator says where its library lies.
Exit status: 0 all well, 1 otherwise.
"""

from __future__ import annotations

import base64
import importlib.util
import sys

import numpy as np

import latenn

# y = x + x, float32 of any length; ONNX opset 17.
MODEL = base64.b64decode("CAgSADo3Cg4KAXgKAXgSAXkiA0FkZBIBZ1oQCgF4EgsKCQgBEgUKAxIBTmIQCgF5EgsKCQgBEgUKAxIBTkIECgAQEQ==")


def main() -> int:
    """Load the model, and compute where there is a backend."""
    print(f"latenn {latenn.__version__}")
    if importlib.util.find_spec("latenn_customop"):
        import latenn_customop  # noqa: PLC0415  # where it is installed

        print(latenn_customop.library_path())
    if importlib.util.find_spec("latenn_onnxruntime") is None:
        return _refuses()
    with latenn.load(MODEL) as model:
        (result,) = model.run({"x": np.array([1, 2, 3], np.float32)}).values()
    print(f"{latenn.runtime_report()['message']}\n{result}")
    return 0 if result.tolist() == [2, 4, 6] else 1


def _refuses() -> int:
    try:
        latenn.load(MODEL)
    except latenn.BackendMissingError as error:
        print(error)
        return 0
    print("a model was loaded without a backend")
    return 1


if __name__ == "__main__":
    sys.exit(main())

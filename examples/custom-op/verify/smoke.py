"""What `latebind verify` runs in each clean environment: register the operator, run it, compare."""

import argparse
import base64
import json
import sys
from pathlib import Path

import numpy as np
import oddops
import onnxruntime

# One node of oddops::Square.
MODEL = base64.b64decode(
    "CAg6PwoWCgF4EgF5IgZTcXVhcmU6Bm9kZG9wcxIBZ1oQCgF4EgsKCQgBEgUKAxIBTmIQCgF5EgsKCQgBEgUKAxIBTkIECgAQEUIKCgZvZGRvcHMQAQ=="
)


def main(words=None):
    """Write the result; docs/consumers.md describes its form and the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    given, _ = parser.parse_known_args(words)
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(oddops.get_library_path())
    session = onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])
    right = session.run(None, {"x": np.array([1, 2, 3], np.float32)})[0].tolist() == [1, 4, 9]
    result = {"report": {"version": onnxruntime.__version__}, "passed": ["squares"] if right else []}
    given.out.write_text(json.dumps({**result, "libraries": [oddops.get_library_path()]}), encoding="utf-8")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

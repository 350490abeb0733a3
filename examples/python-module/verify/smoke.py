"""What `latebind verify` runs in each clean environment: run one model, compare."""

import argparse
import base64
import json
import os
import sys
from pathlib import Path

# The model adds its input to itself.
MODEL = base64.b64decode("CAgSADo3Cg4KAXgKAXgSAXkiA0FkZBIBZ1oQCgF4EgsKCQgBEgUKAxIBTmIQCgF5EgsKCQgBEgUKAxIBTkIECgAQEQ==")


def main(words=None):
    """Write the result; docs/consumers.md describes its form and the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runtime-path")
    given, _ = parser.parse_known_args(words)
    if given.runtime_path:
        os.environ["ONNXRUNTIME_LIB_PATH"] = given.runtime_path
    import modrun  # noqa: PLC0415  # the stub reads the variable when it binds

    try:
        right = modrun.run(MODEL, [1, 2, 3]) == [2, 4, 6]
    except RuntimeError as error:
        given.out.write_text(json.dumps({"error": {"message": str(error)}}), encoding="utf-8")
        return 3
    result = {"passed": ["doubles"] if right else []}  # the stub itself records which runtime it bound
    given.out.write_text(json.dumps(result), encoding="utf-8")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

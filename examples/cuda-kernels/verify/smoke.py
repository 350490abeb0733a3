"""What `latebind verify` runs in each clean environment: compile one kernel to PTX."""

import argparse
import json
import os
import sys
from pathlib import Path

SOURCE = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2.0f; }'


def main(words=None):
    """Write the result; docs/consumers.md describes its form and the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runtime-path")
    given, _ = parser.parse_known_args(words)
    if given.runtime_path:
        os.environ["NVRTC_LIB_PATH"] = given.runtime_path
    import kernels  # noqa: PLC0415  # the stub reads the variable when it binds

    try:
        right = ".entry twice" in kernels.compile_kernel(SOURCE)
        result = {"passed": ["compiles"]} if right else {"error": {"message": "no kernel in the PTX"}}
    except RuntimeError as error:
        result = {"error": {"message": str(error)}}
    given.out.write_text(json.dumps(result), encoding="utf-8")
    return 0 if "passed" in result else 3


if __name__ == "__main__":
    sys.exit(main())

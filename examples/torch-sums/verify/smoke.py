"""What `latebind verify` runs in each clean environment: add numbers by functions of PyTorch 2.8 and of 2.11."""

import argparse
import json
import os
import re
import sys
from pathlib import Path


def main(words=None):
    """Write the result; docs/consumers.md describes its form and the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runtime-path")
    given, _ = parser.parse_known_args(words)
    if given.runtime_path:
        os.environ["TORCH_LIB_PATH"] = given.runtime_path
    import sums  # noqa: PLC0415  # the stub reads the variable when it binds

    try:
        passed = ["adds"] if sums.add([1, 2, 3]) == sum([1, 2, 3]) else []
        passed += ["by a newer function"] if uses_newer(sums) else []
        result = {"passed": passed}
    except RuntimeError as error:
        result = {"error": {"message": str(error)}}
    given.out.write_text(json.dumps(result), encoding="utf-8")
    return 0 if "passed" in result else 3


def uses_newer(sums):
    """Whether torch_from_blob() is right; or, with an older PyTorch, named with the version that has it."""
    try:
        return sums.add_and_free([1, 2, 3]) == (6, 1)
    except RuntimeError as error:
        return re.search(r"torch_from_blob needs PyTorch 2\.11; 2\.(8|9|10)\.", str(error))


if __name__ == "__main__":
    sys.exit(main())

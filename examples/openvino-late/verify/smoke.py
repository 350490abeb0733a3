"""What `latebind verify` runs in each clean environment: bind, run one model, compare."""

import argparse
import base64
import json
import sys
from pathlib import Path

import ovtiny

# The model adds its input to itself.
MODEL = base64.b64decode("CAgSADo3Cg4KAXgKAXgSAXkiA0FkZBIBZ1oQCgF4EgsKCQgBEgUKAxIBTmIQCgF5EgsKCQgBEgUKAxIBTkIECgAQEQ==")


def main(words=None):
    """Write the result; docs/consumers.md describes its form and the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runtime-path")
    parser.add_argument("--runtime-minimum")
    given, _ = parser.parse_known_args(words)
    try:
        report = ovtiny.open_runtime(given.runtime_path, given.runtime_minimum)
    except OSError as error:
        given.out.write_text(json.dumps({"error": {"message": str(error)}}), encoding="utf-8")
        return 3
    right = ovtiny.run(MODEL, [1, 2, 3]) == [2, 4, 6]
    result = {"report": report, "libraries": [report["path"]], "passed": ["doubles"] if right else []}
    given.out.write_text(json.dumps(result), encoding="utf-8")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

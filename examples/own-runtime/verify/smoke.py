"""What `latebind verify` runs in each clean environment: bind, solve one formula, compare."""

import argparse
import json
import sys
from pathlib import Path

import zsolve

SCRIPT = "(declare-const x Int) (assert (= (* x x) 49)) (assert (> x 0)) (check-sat) (get-value (x))"


def main(words=None):
    """Write the result; docs/consumers.md describes its form and the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runtime-path")
    parser.add_argument("--runtime-minimum")
    given, _ = parser.parse_known_args(words)
    try:
        report = zsolve.open_runtime(given.runtime_path, given.runtime_minimum)
    except OSError as error:
        given.out.write_text(json.dumps({"error": {"message": str(error)}}), encoding="utf-8")
        return 3
    right = zsolve.run(SCRIPT).split("\n")[:2] == ["sat", "((x 7))"]
    result = {"report": report, "libraries": [report["path"]], "passed": ["solves"] if right else []}
    given.out.write_text(json.dumps(result), encoding="utf-8")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())

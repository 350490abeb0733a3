"""What `latebind verify` runs in each clean environment: solve one formula, compare."""

import argparse
import json
import os
import sys
from pathlib import Path

SCRIPT = "(declare-const x Int) (assert (= (* x x) 49)) (assert (> x 0)) (check-sat) (get-value (x))"


def main(words=None):
    """Write the result; docs/consumers.md describes its form and the exit status."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runtime-path")
    given, _ = parser.parse_known_args(words)
    if given.runtime_path:
        os.environ["Z3_LIB_PATH"] = given.runtime_path
    import zsolve  # noqa: PLC0415  # the stub reads the variable when it binds

    answer = zsolve.run(SCRIPT)
    right = answer.split("\n")[:2] == ["sat", "((x 7))"]
    result = {"passed": ["solves"]} if right else {"error": {"message": answer}}
    given.out.write_text(json.dumps(result), encoding="utf-8")
    return 0 if right else 3


if __name__ == "__main__":
    sys.exit(main())

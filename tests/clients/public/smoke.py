"""The consumer of a public project: its cases.py, which is copied into this file, calls the library.

Some of these libraries end the process without a runtime, and most print the reason. So a child process calls it first.
Its output is the message, and the cases run in this process only if the child succeeded.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from cases import VARIABLE, run_cases


def try_in_a_child():
    """ "" if the cases run to their end in a child, else what it printed."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            try:
                run_cases()
            except Exception as error:  # noqa: BLE001  # whatever it is, it is the message
                os.write(2, str(error).encode())
                os._exit(1)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return output.read().decode("utf-8", "replace") if status else ""


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    parser.add_argument("--runtime-path")
    options, _ = parser.parse_known_args(arguments)
    if options.runtime_path:
        os.environ[VARIABLE] = options.runtime_path
    message = try_in_a_child()
    if message:
        options.out.write_text(json.dumps({"error": {"message": message}}), encoding="utf-8")
        return 3
    cases = run_cases()
    failed = [{"name": name, "message": text} for name, text in cases.items() if text]
    result = {"passed": [name for name, text in cases.items() if not text], "failed": failed}
    options.out.write_text(json.dumps(result), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

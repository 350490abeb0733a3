"""Follows the tutorial, and what its reader does next, with each CPython that latebind supports.

    python -m ci.pythons [VERSION ...]

The classifiers of pyproject.toml list the versions. One that is not installed here is fetched with uv; if that fails,
it is reported as not run. Exit status: 0 all that are here succeeded.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import msgspec

from ci import tutorial
from latebind.compilers.interpreters import Interpreter, interpreters

ROOT = Path(__file__).resolve().parent.parent
NEXT = ("latebind ci --force\n", "latebind ci --check\n", "loadcheck dist/*.whl\n")
"""After the tutorial, in the folder of its project."""
_CLASSIFIER = "Programming Language :: Python :: 3."
_TIME_LIMIT = 120


def list_supported(project: Path = ROOT) -> tuple[str, ...]:
    """The minor versions of CPython that a project's classifiers name: `3.10`, …, the oldest first."""
    table = msgspec.toml.decode((project / "pyproject.toml").read_bytes())["project"]
    names = [name for name in table["classifiers"] if name.startswith(_CLASSIFIER)]
    return tuple(sorted((name.rpartition(" ")[2] for name in names), key=lambda minor: int(minor.partition(".")[2])))


def find_python(minor: str) -> Interpreter | str:
    """A CPython of this version, from here or by uv; or why there is none."""
    fetch = ["uv", "python", "install", "--quiet", minor]
    if not interpreters([minor]):
        environment = {**os.environ, "UV_PYTHON_DOWNLOADS": "manual"}
        try:
            ended = subprocess.run(fetch, env=environment, check=False, capture_output=True, timeout=_TIME_LIMIT)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"not installed here, and uv cannot fetch it: {error}"
        if ended.returncode:
            return "not installed here, and uv cannot fetch it"
    return next(iter(interpreters([minor])), "not installed here")


def tour(python: Interpreter, cache: Path) -> tuple[list[tutorial.Ran], int]:
    """Follow the tutorial with a CPython. Returns what ran, and how many blocks there are."""
    blocks = [*tutorial.commands(tutorial.PAGE.read_text("utf-8")), *NEXT]
    with tempfile.TemporaryDirectory(prefix=f"python{python.minor}-") as folder:
        return tutorial.follow(blocks, Path(folder), cache, python.path), len(blocks)


def describe(python: Interpreter, ran: list[tutorial.Ran], number: int, seconds: float) -> tuple[str, bool]:
    """The line on one CPython, with the output of a block that failed; whether all succeeded."""
    succeeded = len(ran) == number and all(step.status == 0 for step in ran)
    line = f"{'passed' if succeeded else 'FAILED'}  CPython {python.version}  {len(ran)} of {number} commands"
    failure = "" if succeeded else f"\n$ {ran[-1].command}{ran[-1].output}" if ran else "\nno command ended"
    return f"{line}, {seconds:.0f} s{failure}", succeeded


def main(arguments: list[str] | None = None) -> int:
    """Try each, print a line on each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("versions", nargs="*", help="minor versions of CPython (default: all that latebind supports)")
    wanted = parser.parse_args(arguments).versions or list_supported()
    failed = False
    with tempfile.TemporaryDirectory(prefix="pythons-") as name, ThreadPoolExecutor(os.cpu_count()) as pool:
        found = {minor: find_python(minor) for minor in wanted}
        pythons = [python for python in found.values() if isinstance(python, Interpreter)]
        for line, succeeded in pool.map(partial(try_python, cache=Path(name)), pythons):
            print(line, flush=True)
            failed |= not succeeded
    for minor, reason in found.items():
        if isinstance(reason, str):
            print(f"not run  CPython {minor}: {reason}")
    return int(failed)


def try_python(python: Interpreter, cache: Path) -> tuple[str, bool]:
    """The line on one CPython, and whether all succeeded."""
    started = time.monotonic()
    ran, number = tour(python, cache)
    return describe(python, ran, number, time.monotonic() - started)


if __name__ == "__main__":
    sys.exit(main())

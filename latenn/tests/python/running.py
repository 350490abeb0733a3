"""Runs interpreters that see latenn's wheels, and work on many threads."""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor

from tests.support.programs import run_program


def python(site, *arguments, **environment):
    """An interpreter that sees the wheels in `site`, and what the test environment has."""
    env = {**os.environ, "PYTHONPATH": str(site), **environment}
    return run_program(sys.executable, *arguments, env=env, timeout=300)


def in_process(site, code, *arguments, **environment):
    """Code in such an interpreter, for which a warning is an error."""
    return python(site, "-W", "error", "-c", code, *arguments, **environment)


def crowd(work, count=8):
    """What `work` gives for each number, each on a thread of its own; what one raises is raised."""
    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))

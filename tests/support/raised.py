"""Runs set-id copies of programs, as root: a process with more rights than its user."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

NOBODY = 65534


@pytest.fixture
def run_raised(plain):
    """Runs a set-id copy of a program for a user who is not its owner."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("not run: only root can give a program to root and run it for somebody else")
    with tempfile.TemporaryDirectory(prefix="latebind-test-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)

        def run(program, *arguments, feed="", **environment):
            copy = pathlib.Path(shutil.copy(plain.folder / program, folder / "raised"))
            copy.chmod(0o4755)
            done = subprocess.run(
                [copy, *arguments],
                user=NOBODY,
                group=NOBODY,
                extra_groups=[],
                cwd="/",
                env=environment,
                input=feed.encode(),
                capture_output=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout.decode()

        yield run

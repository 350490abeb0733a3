"""A process with more rights than its user: no environment variable chooses what it opens. Set-id copies, as root."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

from tests.native.building import ROOT
from tests.native.situations import ENVIRONMENT
from tests.native.test_loader import NAME

NOBODY = 65534
THE_ONE_PLACE = {"loader/src/os_posix.c", "loader/src/os_windows.c"}
READS = re.compile(r"\b(?:secure_getenv|_?w?getenv(?:_s)?|GetEnvironmentVariable[AW]?|environ)\b\(?")


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


def test_the_loaders_own_variable_is_ignored_and_the_sentence_says_so(run_raised, plain):
    printed = run_raised("probe", "--text", **{ENVIRONMENT: str(plain.stand_in("good"))})
    assert printed.startswith("ONNX Runtime was not found")
    assert "This process has more rights than its user: environment variables are ignored." in printed
    assert ENVIRONMENT not in printed
    assert "environment:" not in printed


def test_the_list_of_library_folders_is_ignored(run_raised, plain, tmp_path):
    shutil.copy(plain.stand_in("good"), tmp_path / NAME)
    assert "not found" in run_raised("probe", "--text", LD_LIBRARY_PATH=str(tmp_path))


def find_readers(folder):
    """The sources that read the environment; headers of a system declare the functions that do."""
    return {
        str(path.relative_to(ROOT))
        for path in folder.rglob("*.[ch]")
        if "msvc" not in path.parts and READS.search(re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL))
    }


def test_the_environment_is_read_in_one_place():
    assert find_readers(ROOT / "loader") == THE_ONE_PLACE

"""What the lock of the system's loader does to a first call, beside what it does to dlopen(): docs/howto/drop-in.md."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: the programs are for Linux")


def start(plain, tmp_path, how, **environment):
    library, runtime = tmp_path / "libmine.so", tmp_path / "libonnxruntime.so.1"
    shutil.copy(plain.folder / "libmine.so", library)
    shutil.copy(plain.stand_in("slowest" if how.startswith("fork") else "good"), runtime)
    names = {name: str(library if name == "LIBRARY" else runtime) for name in environment if environment[name] is None}
    given = {name: value for name, value in environment.items() if value is not None}
    command = [plain.folder / "waiting", library, runtime, how]
    environment = {"PLUGIN": str(plain.folder / "libwaiter.so"), **given, **names}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_an_initializer_that_waits_for_the_first_call_hangs_as_with_dlopen(plain, tmp_path):
    late = start(plain, tmp_path, "initializer", LIBRARY=None)
    plainly = start(plain, tmp_path, "initializer", RUNTIME=None)
    assert late.returncode == plainly.returncode == -signal.SIGALRM


def test_an_initializer_that_makes_the_first_call_itself_may_wait(plain, tmp_path):
    done = start(plain, tmp_path, "initializer", LIBRARY=None, FIRST="1")
    assert (done.returncode, done.stdout) == (0, "1.25.3\n1.25.3\n")
    assert start(plain, tmp_path, "initializer", RUNTIME=None, FIRST="1").returncode == -signal.SIGALRM


def test_a_child_that_was_forked_meanwhile_gets_an_error_and_no_runtime_that_is_half_open(plain, tmp_path):
    """dlopen() gives the child the runtime before its initializers have run; with newer C libraries it may hang."""
    child, parent = start(plain, tmp_path, "fork").stdout.splitlines()
    assert child == (
        "ONNX Runtime was being opened when this process was forked, and is half open here. Make the first call before "
        "the fork, or run another program (exec)."
    )
    assert parent == "1.25.3"
    assert start(plain, tmp_path, "fork-dlopen").stdout.splitlines()[0] in {"half open", "hangs"}

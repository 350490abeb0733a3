"""Trees of processes: found by their mark, ended whole, also when anyone who started them was killed."""

import os
import signal
import subprocess
import sys
import time

import pytest

from latebind.system.processes import TREE, _of_ps, end_trees, extend_mark, list_marked, watched_over
from latebind.system.run import run

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has jobs instead")
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def sleeper():
    """Starts a program that sleeps, with a mark; ends it."""
    started = []

    def start(mark, **how):
        started.append(subprocess.Popen(SLEEP, env={**os.environ, TREE: mark}, **how))
        while mark not in dict(list_marked()).values():
            time.sleep(0.01)
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@POSIX
def test_a_tree_is_ended_in_every_session_and_its_neighbours_are_not(sleeper):
    mark, other = extend_mark(""), extend_mark("")
    below = [sleeper(mark), sleeper(extend_mark(mark), start_new_session=True), sleeper(extend_mark(extend_mark(mark)))]
    beside = [sleeper(other), sleeper(f"{mark}0")]
    end_trees([mark])
    assert [process.wait(5) for process in below] == [-signal.SIGKILL] * 3
    assert [process.poll() for process in beside] == [None, None]


@POSIX
def test_ending_nothing_ends_nothing(sleeper):
    process = sleeper(extend_mark(""))
    end_trees([])
    end_trees([extend_mark("")])
    assert process.poll() is None


@pytest.mark.skipif(sys.platform != "linux", reason="not run: these words are for Linux's ps")
def test_what_ps_prints_is_read_as_proc_is(sleeper):
    """macOS has no /proc; its ps prints environments in the same form."""
    mark = extend_mark(extend_mark(""))
    process = sleeper(mark)
    assert (process.pid, mark) in set(_of_ps(["ps", "axeww", "-o", "pid=,args="]))


APART = "import subprocess, sys; subprocess.run(sys.argv[1:], start_new_session=True)"
HOLDER = f"""
import sys
from latebind.system.processes import watched_over
from latebind.system.run import run
with watched_over():
    run([sys.executable, "-c", {APART!r}, *sys.argv[1:]])
"""


@POSIX
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGHUP, signal.SIGTERM])
def test_a_holder_that_is_killed_takes_its_tree_along(tmp_path, how):
    script = tmp_path / "sleep.py"
    script.write_text("import pathlib, time; pathlib.Path(__file__).with_name('begun').touch(); time.sleep(60)")
    holder = subprocess.Popen([sys.executable, "-c", HOLDER, sys.executable, str(script)], stdout=subprocess.DEVNULL)
    while not (tmp_path / "begun").exists():
        assert holder.poll() is None
        time.sleep(0.02)
    holder.send_signal(how)
    assert holder.wait(10) == -how
    end = time.monotonic() + 10
    while str(script) in run(["ps", "-eo", "args"]).output:
        assert time.monotonic() < end
        time.sleep(0.05)


@POSIX
@pytest.mark.parametrize("fails", [False, True])
def test_what_a_block_leaves_running_at_its_end_is_left_alone(sleeper, fails):
    """A cache of compiled files is a daemon that later builds use."""
    with pytest.raises(ZeroDivisionError) if fails else watched_over(), watched_over() as mark:
        process = sleeper(extend_mark(mark))
        assert not fails or 1 / 0
    time.sleep(0.3)
    assert process.poll() is None


@POSIX
def test_an_interrupted_block_ends_all_that_it_started(sleeper):
    def interrupt_watch():
        with watched_over() as mark:
            begun.append(sleeper(extend_mark(mark)))
            raise KeyboardInterrupt

    begun = []
    with pytest.raises(KeyboardInterrupt):
        interrupt_watch()
    assert begun[0].wait(5) == -signal.SIGKILL
    assert TREE not in os.environ

"""Killed at any moment, with its children or without, latebind leaves whole packages only and nothing running.

The next run completes, also one that starts at once.
"""

import itertools
import os
import signal
import sys
import time

import pytest

from tests.pack.kills import Campaign, finish, programs, start, wait_until_gone, write_writing

KILLS = int(os.environ.get("LATEBIND_KILLS", "3"))
"""How many of each campaign below: each signal once; LATEBIND_KILLS=20 takes a quarter of an hour."""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="not run: /proc is Linux's")
WHEN = pytest.mark.parametrize("second", [False, True], ids=["alone", "with-a-second-run"])


@LINUX
@pytest.mark.slow
@pytest.mark.parametrize("command", ["build", "pack"])
def test_kills_leave_nothing_running_and_change_no_byte(tmp_path, command, record_property):
    """Another run begins when all is over, or at once."""
    campaign = Campaign(tmp_path, command, seed=17)
    for second in (False, True) if command == "build" else (True,):
        campaign.run(itertools.islice(itertools.cycle(SIGNALS), KILLS), second=second)
    record_property("attempts", campaign.attempts)
    record_property("seconds until all had ended", campaign.slowest)


@pytest.fixture
def writing(tmp_path):
    """A project that is just being built, with a grandchild that writes into build/, and its latebind."""
    folder = write_writing(tmp_path / "tiny")
    process = start(folder, "build")
    while not (folder / "build" / "linux-x64" / "written").exists():
        assert process.poll() is None, process.communicate()[0].decode()
        time.sleep(0.02)
    (tmp_path / "quick").touch()
    return folder, process


@pytest.mark.slow
@LINUX
@WHEN
@pytest.mark.parametrize("how", SIGNALS)
def test_what_left_its_group_and_session_is_ended_before_another_run_begins(writing, how, second):
    folder, process = writing
    process.send_signal(how)
    again = start(folder, "build") if second else None
    process.communicate(timeout=10)
    if again:
        finish(again)
    wait_until_gone(folder)


@LINUX
def test_what_was_killed_with_its_watcher_is_ended_by_the_next_run(writing):
    """As when memory runs out for both: compilers go on, and the next run ends them before it writes."""
    folder, process = writing
    mark = (folder / "build" / ".live").read_text(encoding="ascii")
    (watcher,) = [pid for pid, command_line in programs().items() if command_line.endswith(f" {mark}")]
    os.kill(watcher, signal.SIGKILL)
    process.kill()
    process.communicate()
    earlier = {pid for pid, command_line in programs().items() if str(folder) in command_line}
    assert earlier
    finish(start(folder, "build"))
    assert not earlier & set(programs())
    assert not (folder / "build" / ".live").exists()


@LINUX
def test_a_run_that_fails_by_itself_leaves_nothing_to_end(tiny, latebind):
    (tiny / "native" / "tiny.c").write_text("no C", encoding="utf-8")
    assert latebind("-C", tiny, "build").returncode == 2
    assert not (tiny / "build" / ".live").exists()

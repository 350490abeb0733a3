"""Killed at any moment, with its children or without, latebind leaves whole packages only and nothing running.

The next run completes, also one that starts at once.
"""

import hashlib
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.build.kills import Campaign, programs, wait_until_gone, write_writing
from tests.build.kills import finish as finish_build
from tests.build.kills import start as begin
from tests.client import PORTABLE_SOURCE, write_portable

MOMENTS = 20
KILLS = int(os.environ.get("LATEBIND_KILLS", "6"))
"""How many of each campaign below: all signals twice; LATEBIND_KILLS=20 takes a quarter of an hour."""
TARGETS = ["linux-x64", "osx-arm64"]
NAMES = {
    "Tiny.1.2.3.nupkg",
    "tiny-1.2.3-py3-none-macosx_11_0_arm64.whl",
    "tiny-1.2.3-py3-none-manylinux_2_28_x86_64.whl",
    "tiny-1.2.3.tar.gz",
}


def start(folder):
    words = [word for rid in TARGETS for word in ("--target", rid)]
    command = [sys.executable, "-m", "latebind.cli", "-q", "-C", str(folder), "pack", *words]
    return subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def finish(folder):
    process = start(folder)
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0, output.decode()
    made = digests(folder)
    assert set(made) == NAMES
    return made


def digests(folder):
    """The packages by name; what is written aside has a name that no installer takes."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in (folder / "dist").glob("*")
        if not (path.name.startswith(".") and path.name.endswith(".part"))
    }


def kill(process, folder, *, children):
    """End the process as the kernel does when memory runs out; its compilers go on unless they are ended, too."""
    process.kill()
    if children:
        subprocess.run([shutil.which("pkill"), "-KILL", "-f", str(folder)], check=False)
    process.stdout.close()
    process.wait()


def edit(folder, number):
    """Another function, so that everything has to be made again."""
    (folder / "native" / "tiny.c").write_text(PORTABLE_SOURCE.replace("+ b", f"+ b + {number}"), encoding="utf-8")


@pytest.fixture
def tiny_for_two(tmp_path):
    return write_portable(tmp_path / "tiny", TARGETS)


@pytest.mark.slow
def test_killed_at_random_moments(tiny_for_two):
    finish(tiny_for_two)
    edit(tiny_for_two, 0)
    started = time.monotonic()
    before = finish(tiny_for_two)
    whole = time.monotonic() - started

    chance, running = random.Random(20), 0  # noqa: S311  # the same moments in every run
    for number in range(1, MOMENTS + 1):
        edit(tiny_for_two, number)
        process = start(tiny_for_two)
        time.sleep(chance.random() * whole)
        running += process.poll() is None
        kill(process, tiny_for_two, children=number % 2 == 0)
        between = digests(tiny_for_two)
        after = finish(tiny_for_two)
        assert all(digest in (before.get(name), after[name]) for name, digest in between.items()), between
        assert {path.name for path in (tiny_for_two / "dist").iterdir()} == NAMES
        assert after != before
        before = after
    assert running > MOMENTS // 2


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="not run: /proc is Linux's")
WHEN = pytest.mark.parametrize("second", [False, True], ids=["alone", "with-a-second-run"])


@LINUX
@pytest.mark.slow
@WHEN
@pytest.mark.parametrize("command", ["build", "pack"])
def test_kills_leave_nothing_running_and_change_no_byte(tmp_path, command, second, record_property):
    campaign = Campaign(tmp_path, command, seed=17)
    campaign.run(itertools.islice(itertools.cycle(SIGNALS), KILLS), second=second)
    record_property("attempts", campaign.attempts)
    record_property("seconds until all had ended", campaign.slowest)


@pytest.fixture
def writing(tmp_path):
    """A project that is just being built, with a grandchild that writes into build/, and its latebind."""
    folder = write_writing(tmp_path / "tiny")
    process = begin(folder, "build")
    while not (folder / "build" / "linux-x64" / "written").exists():
        assert process.poll() is None, process.communicate()[0].decode()
        time.sleep(0.02)
    (tmp_path / "quick").touch()
    return folder, process


@LINUX
@WHEN
@pytest.mark.parametrize("how", SIGNALS)
def test_what_left_its_group_and_session_is_ended_before_another_run_begins(writing, how, second):
    folder, process = writing
    process.send_signal(how)
    again = begin(folder, "build") if second else None
    process.communicate(timeout=10)
    if again:
        finish_build(again)
    wait_until_gone(folder)


@LINUX
def test_what_was_killed_with_its_watcher_is_ended_by_the_next_run(writing):
    """As when memory runs out for both: compilers go on, and the next run ends them before it writes."""
    folder, process = writing
    mark = (folder / "build" / ".live").read_text(encoding="ascii")
    (watcher,) = [pid for pid, words in programs().items() if words.endswith(f" {mark}")]
    os.kill(watcher, signal.SIGKILL)
    process.kill()
    process.communicate()
    earlier = {pid for pid, words in programs().items() if str(folder) in words}
    assert earlier
    finish_build(begin(folder, "build"))
    assert not earlier & set(programs())
    assert not (folder / "build" / ".live").exists()


@LINUX
def test_a_run_that_fails_by_itself_leaves_nothing_to_end(tiny, latebind):
    (tiny / "native" / "tiny.c").write_text("no C", encoding="utf-8")
    assert latebind("-C", tiny, "build").returncode == 2
    assert not (tiny / "build" / ".live").exists()

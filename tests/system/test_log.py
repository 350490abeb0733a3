"""Progress: lines and heartbeats where nobody redraws, live lines on a terminal, nothing with --quiet."""

import contextlib
import os
import re
import subprocess
import sys
import time

import pytest

from latebind.backend.notes import duration
from latebind.system.log import Log
from latebind.system.parallel import each
from latebind.system.run import run

PROGRAM = """
import sys
import time
from latebind.system.log import Log
from latebind.system.parallel import each
from latebind.system.run import run

log = Log(sys.argv[1], heartbeat=0.3)

def work(name):
    with log.step(f"building {name}", f"built {name}"):
        run([sys.executable, "-c", "import time; time.sleep(1)"])
        log.detail(f"{name}: a detail")

with log.step("building 2 targets", total=2) as finished:
    each(work, ["linux-x64", "win-x64"], jobs=2, finished=finished)
    run([sys.executable, "-c", "import time; time.sleep(0.4)"])
print("the result")
"""


def run_logger(level, stderr=subprocess.PIPE, **environment):
    command = [sys.executable, "-c", PROGRAM, level]
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=stderr, text=True, check=True, env={**os.environ, **environment}
    )


def test_a_pipe_gets_a_line_at_both_ends_of_a_step_and_heartbeats_between():
    done = run_logger("normal")
    lines = done.stderr.splitlines()
    assert sorted(lines[:2]) == ["building linux-x64 …", "building win-x64 …"]
    built = [line for line in lines if re.fullmatch(r"built (linux|win)-x64 in 1\.\d s", line)]
    assert len(built) == 2
    beats = [line for line in lines[2:] if line not in built]
    assert beats
    assert all(line.startswith("still building ") for line in beats)
    assert re.search(r"building linux-x64 \(0\.\d s\)", beats[0])
    assert re.match(r"still building 2 targets \[0/2\] \(0\.\d s\), building ", beats[0])
    assert re.fullmatch(r"still building 2 targets \[2/2\] \(1\.\d s\)", lines[-1])
    assert done.stdout == "the result\n"


def test_details_come_with_verbose_alone_and_nothing_at_all_with_quiet():
    assert "linux-x64: a detail" in run_logger("verbose").stderr
    assert run_logger("quiet").stderr == ""


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no pseudo-terminals in the standard library")
def test_a_terminal_gets_one_live_line_for_each_step_with_its_time():
    reader, writer = os.openpty()
    done = run_logger("verbose", writer, TERM="xterm", COLUMNS="100")
    os.close(writer)
    shown = b""
    try:
        while part := os.read(reader, 65536):
            shown += part
    except OSError:  # Linux: the other end is closed
        pass
    os.close(reader)
    text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", shown).decode()
    assert re.search(r"0:00:0\d building linux-x64\s+. 0:00:0\d building win-x64", text)
    assert "building 2 targets [0/2]" in text
    assert "building 2 targets [2/2]" in text
    assert "linux-x64: a detail" in text
    assert re.search(r"built win-x64 in 1\.\d s", text)
    assert " …" not in text
    assert done.stdout == "the result\n"


def test_a_failed_step_says_how_long_it_ran(capsys):
    log = Log()
    with pytest.raises(ValueError, match="broken"), log.step("building it", "built it"):
        raise ValueError("broken")
    assert re.fullmatch(r"building it …\nstopped building it after 0\.\d s\n", capsys.readouterr().err)


def test_heartbeats_end_with_the_last_step(capsys):
    log = Log(heartbeat=0.05)

    def work(name):
        with log.step(f"packing {name}", f"packed {name}"):
            run([sys.executable, "-c", ""])

    each(work, ["a", "b"])
    capsys.readouterr()
    run([sys.executable, "-c", "import time; time.sleep(0.3)"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.04, "0.0 s"), (9.94, "9.9 s"), (10, "10 s"), (59.6, "1 min 0 s"), (125, "2 min 5 s")]
)
def test_durations_are_read_at_a_glance(seconds, text):
    assert duration(seconds) == text


def test_progress_is_shown_with_the_step_of_its_thread(capsys):
    log = Log(heartbeat=0.05)
    log.progress("[1/2]")  # of no step
    with log.step("building one", "built one"):
        log.progress("[7/9]")
        time.sleep(0.2)
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("still building one [7/9] (") for line in lines)
    assert "[1/2]" not in "".join(lines)


def test_a_heartbeat_says_what_else_is_known_of_a_step(capsys):
    with Log(heartbeat=0.05).step("verifying 2 test cases", "verified", lambda: "(wheel/works for 9 min)"):
        time.sleep(0.2)
    shown = capsys.readouterr().err
    assert re.search(r"still verifying 2 test cases \(0\.\d s\) \(wheel/works for 9 min\)\n", shown)


def test_one_piece_reports_itself_and_a_failure_without_an_announcement_says_nothing(capsys):
    log = Log(heartbeat=0.05)
    with log.step("packing 1 package", total=1) as finished:
        time.sleep(0.1)
        finished()
    with contextlib.suppress(ValueError), log.step("packing 2 packages", total=2):
        raise ValueError
    assert capsys.readouterr().err == ""

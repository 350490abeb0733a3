"""Machines run programs as if they were this one's: status, output, folder, environment; and nothing stays behind."""

from __future__ import annotations

import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from latebind.system.run import run

pytestmark = [pytest.mark.emulated, pytest.mark.slow]
LOOK = """
import json, os, sys
print(json.dumps({"cwd": os.getcwd(), "said": os.environ.get("SAID"), "words": sys.argv[1:], "input": sys.stdin.read(),
                  "system": sys.platform, "site": [path for path in sys.path if "site-packages" in path]}))
print("aside", file=sys.stderr)
sys.exit(7)
"""


def test_a_program_is_run_as_if_it_were_ours(machine, environment, tmp_path):
    folder = tmp_path / "日本"
    folder.mkdir()
    argv = machine.argv(machine.python_of(environment), "-I", "-c", LOOK, "a b", 'q"', tmp_path / "ä")
    env = {**os.environ, "SAID": "x=1"}
    done = subprocess.run(argv, cwd=folder, env=env, check=False, capture_output=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr.strip()) == (7, b"aside")
    seen = json.loads(done.stdout)
    assert (machine.local(seen["cwd"]), seen["said"], seen["input"]) == (folder, "x=1", "")
    assert seen["words"] == ["a b", 'q"', machine.path(tmp_path / "ä")]
    assert seen["system"] == ("win32" if machine.rid == "win-x64" else "linux")
    assert [machine.local(path) for path in seen["site"]] == [machine.site_packages(environment)]


def test_it_starts_itself_again_in_the_same_environment(machine, environment):
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import sys; print(sys.prefix)'], check=True)"
    done = run(machine.argv(machine.python_of(environment), "-I", "-c", code))
    assert machine.local(done.output.strip()) == environment


def test_several_at_once_do_not_disturb_each_other(machine, environment):
    argv = machine.argv(machine.python_of(environment), "-I", "-c", "import time; time.sleep(1); print('well')")
    with ThreadPoolExecutor(4) as pool:
        assert [done.output.split() for done in pool.map(lambda _: run(argv), range(4))] == [["well"]] * 4


def test_one_that_takes_too_long_is_ended_with_all_that_it_started(machine, environment):
    at = machine.command.index("--seconds") + 1
    command = (*machine.command[:at], "4", *machine.command[at + 1 :])
    mark = f"a mark of {os.getpid()}"
    sleep = "[sys.executable, '-c', 'import time; time.sleep(60)', *sys.argv[1:]]"
    code = f"import subprocess, sys; print('said', flush=True); subprocess.run({sleep})"
    started = time.monotonic()
    done = run([*command, machine.python_of(environment), "-I", "-c", code, mark], check=False)
    assert done.returncode == 124
    assert "said" in done.output
    assert "over 4 seconds" in done.output
    assert time.monotonic() - started < 50
    assert not [pid for pid in Path("/proc").glob("[0-9]*") if mark.encode() in line(pid)]


def line(folder):
    try:
        return (folder / "cmdline").read_bytes()
    except OSError:
        return b""

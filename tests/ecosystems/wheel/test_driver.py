"""The program that runs consumers inside test cases: each of its ways, and what it refuses."""

import json
import sys

import pytest

from latebind.ecosystems.wheel.consumer import DRIVER
from latebind.system.run import run
from latebind.text import decisive_line, ending

SCRIPT = """\
import argparse, json, os, sys, threading

def main(words=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--out")
    parser.add_argument("--mode", default="same")
    given = parser.parse_args(words)
    answer = {
        "same": ["a"],
        "by-process": [str(os.getpid())],
        "by-thread": [threading.current_thread().name],
        "dies": ["a"],
        "raises": ["a"],
    }[given.mode]
    if given.mode == "dies" and given.out.endswith(".1.json") + given.out.endswith(".0.json"):
        os.kill(os.getpid(), 11)
    if given.mode == "raises":
        raise OSError("no runtime")
    with open(given.out, "w") as file:
        json.dump({"passed": answer, "report": {"path": "/x"}, "modules": sorted(sys.modules)}, file)
    return 3 if given.mode == "fails" else 0

if __name__ == "__main__":
    sys.exit(main())
"""


@pytest.fixture
def drive(tmp_path):
    script = tmp_path / "consumer.py"
    script.write_text(SCRIPT, encoding="utf-8")

    def driven(*action, mode="same"):
        out, seen = tmp_path / "out.json", tmp_path / "seen.json"
        command = [sys.executable, "-I", DRIVER, "--seen", seen, *action, "--"]
        ended = run([*command, script, "--out", out, "--mode", mode], cwd=tmp_path, check=False)
        result = json.loads(out.read_text("utf-8")) if out.exists() else None
        return ended, result, json.loads(seen.read_text("utf-8")) if seen.exists() else None

    return driven


@pytest.mark.parametrize(
    "action", [(), ("--threads", "4"), ("--fork",), ("--spawn",), ("--subprocess",), ("--import-before", "sqlite3")]
)
def test_every_way_ends_with_the_consumers_result(drive, action, tmp_path):
    ended, result, seen = drive(*action)
    assert ended.returncode == 0, ended.output
    assert result["passed"] == ["a"]
    assert any("libc.so" in path for path in seen["libraries"])
    assert ("sqlite3" in result["modules"]) == (action == ("--import-before", "sqlite3"))
    assert not (tmp_path / "__pycache__").exists()  # the folder is the project's


@pytest.mark.parametrize(("action", "mode"), [(("--threads", "4"), "by-thread"), (("--fork",), "by-process")])
def test_runs_that_disagree_are_a_failure(drive, action, mode):
    ended, result, _ = drive(*action, mode=mode)
    assert ended.returncode == 1
    assert "differ from the result of run" in result["failed"][0]["message"]


@pytest.mark.parametrize("action", ["--fork", "--spawn"])
def test_the_signal_that_ends_a_child_is_the_status(drive, action):
    ended, _, _ = drive(action, mode="dies")
    assert ending(ended.returncode) == "ended by SIGSEGV (11)"
    assert "Traceback" not in ended.output


@pytest.mark.parametrize("action", ["--threads=2", "--spawn", "--subprocess"])
def test_the_consumers_exception_is_the_last_one(drive, action):
    ended, _, _ = drive(action, mode="raises")
    assert ended.returncode == 1
    assert decisive_line(ended.output) == "OSError: no runtime"


def test_a_folder_that_can_be_written_to_is_told(drive, tmp_path):
    ended, result, _ = drive("--read-only", tmp_path)
    assert (ended.returncode, result) == (9, None)
    assert "was not denied" in ended.output


def test_what_cannot_be_opened_before_ends_the_run(drive, tmp_path):
    ended, result, _ = drive("--preload", tmp_path / "nothing.so")
    assert ended.returncode != 0
    assert result is None


def test_packages_of_a_folder_come_first(drive, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sqlite3.py").write_text("", encoding="utf-8")
    _, _, seen = drive("--site", tmp_path / "site", "--import-after", "sqlite3")
    assert seen["path"][0] == str(tmp_path / "site")
    assert not any("_sqlite3" in path for path in seen["libraries"])

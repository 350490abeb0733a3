"""Processes: limits, whole groups, what is shown and what is hidden."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from latebind.backend.programs import which
from latebind.backend.run import command_text
from latebind.errors import ToolError
from latebind.system.limits import Limits
from latebind.system.log import LOG
from latebind.system.run import run
from latebind.verify.run.access import NOBODY, is_root
from tests.conftest import alive
from tests.support.running import run_program

PYTHON = sys.executable


def test_output_and_status_come_back(tmp_path):
    done = run([PYTHON, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"], check=False)
    assert (done.returncode, sorted(done.output.split())) == (3, ["err", "out"])


def test_a_failure_shows_the_last_words_and_with_verbose_the_command(monkeypatch):
    command = [PYTHON, "-c", "print('last words'); raise SystemExit(3)"]
    with pytest.raises(ToolError, match=r"failed with status 3\n +last words"):
        run(command)
    monkeypatch.setattr(LOG, "level", "verbose")
    with pytest.raises(ToolError, match=r"failed with status 3: .* -c(.|\n)*last words"):
        run(command)


def test_a_missing_program_and_a_missing_folder_are_told_apart(tmp_path):
    with pytest.raises(ToolError, match="program no-such-program was not found"):
        run(["no-such-program"])
    with pytest.raises(ToolError, match=r"folder .*nowhere was not found"):
        run([PYTHON, "-c", ""], cwd=tmp_path / "nowhere")


def test_the_limit_ends_the_whole_group(tmp_path):
    child = tmp_path / "child"
    code = f"import subprocess, sys, time; p = subprocess.Popen(['sleep', '60']); open({str(child)!r}, 'w').write(str(p.pid)); print('begun', flush=True); time.sleep(60)"  # noqa: E501
    started = time.monotonic()
    with pytest.raises(ToolError, match=r"ran past its limit of 2 s\n +begun"):
        run([PYTHON, "-c", code], timeout=1.5)
    assert time.monotonic() - started < 15
    time.sleep(0.2)
    assert not alive(int(child.read_text()))


def test_interrupting_ends_the_whole_group(tmp_path):
    child = tmp_path / "child"
    inner = f"import os, time; open({str(child)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    code = f"import sys; from latebind.system.run import run; run([sys.executable, '-c', {inner!r}])"
    process = subprocess.Popen([PYTHON, "-c", code], stderr=subprocess.DEVNULL)
    while not (child.is_file() and child.read_text()):
        time.sleep(0.05)
    process.send_signal(2)
    process.wait(timeout=20)
    time.sleep(0.2)
    assert not alive(int(child.read_text()))


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no sessions like these")
def test_an_interruption_right_after_the_start_ends_the_process_as_well(tmp_path):
    child = tmp_path / "child"
    inner = f"import os, time; open({str(child)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    code = f"""
import os, sys, time
from latebind.system import run as module

class Interrupted(module._Started):
    def __init__(self, *words, **fields):
        while not (os.path.exists({str(child)!r}) and os.path.getsize({str(child)!r})):
            time.sleep(0.01)
        raise KeyboardInterrupt

module._Started = Interrupted
module.run([sys.executable, "-c", {inner!r}])
"""
    ended = run_program(PYTHON, "-c", code, timeout=60)
    assert "KeyboardInterrupt" in ended.stderr
    time.sleep(0.2)
    assert not alive(int(child.read_text()))


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no sessions like these")
@pytest.mark.parametrize("depth", [1, 3])
def test_the_limit_ends_what_left_the_group_and_the_session(tmp_path, depth):
    script = tmp_path / "apart.py"
    script.write_text(
        "import subprocess, sys, time\n"
        "depth = int(sys.argv[1])\n"
        "words = [sys.executable, __file__, str(depth - 1)]\n"
        "subprocess.run(words, start_new_session=True) if depth else time.sleep(60)\n",
        encoding="utf-8",
    )
    started = time.monotonic()
    with pytest.raises(ToolError, match=r"ran past its limit of 1 s"):
        run([PYTHON, script, str(depth)], timeout=1)
    assert time.monotonic() - started < 8
    assert str(script) not in run(["ps", "-eo", "args"]).output


def test_the_environment_is_replaced_not_extended():
    assert run([PYTHON, "-c", "import os; print('HOME' in os.environ)"], env={"A": "b"}).output.strip() == "False"


def test_standard_input_is_closed():
    assert run([PYTHON, "-c", "import sys; print(repr(sys.stdin.read()))"]).output.strip() == "''"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["x", "--token", "abc"], "x --token '***'"),
        (["x", "--api-key", "k"], "x --api-key '***'"),
        (["x", "TWINE_PASSWORD=abc"], "x 'TWINE_PASSWORD=***'"),
        (["x", "a b"], "x 'a b'"),
    ],
)
def test_secrets_are_not_shown(command, text):
    assert command_text(command) == text


def test_a_log_keeps_command_and_output(tmp_path):
    log = tmp_path / "logs" / "one.log"
    run([PYTHON, "-c", "print('hello')"], log=log)
    run([PYTHON, "-c", "print('again')"], log=log)
    assert log.read_text().count("$ ") == 2
    assert "hello\n" in log.read_text()


HUNGRY = "import time; held = bytearray(400_000_000); time.sleep(60)"
MANY = "import subprocess, sys; [subprocess.Popen(['sleep', '60']) for _ in range(12)]; import time; time.sleep(60)"


@pytest.mark.parametrize(
    ("program", "limits", "message"),
    [
        (HUNGRY, Limits(memory=200 * 1024**2), "200 MiB of memory"),
        (MANY, Limits(processes=8), "8 processes"),
        ("import time; time.sleep(60)", Limits(seconds=1, processes=8), "1 s"),
    ],
)
def test_what_goes_over_a_limit_is_ended_with_all_that_it_started(program, limits, message):
    with pytest.raises(ToolError, match=f"ran past its limit of {message}"):
        run([sys.executable, "-c", program], limits=limits)
    assert "bytearray(400_000_000)" not in run(["ps", "-eo", "args"]).output


def test_what_stays_below_its_limits_is_left_alone():
    assert run([sys.executable, "-c", "print(1)"], limits=Limits(memory=1 << 30, processes=4)).output == "1\n"


@pytest.mark.skipif(not is_root(), reason="not run: only root becomes somebody else")
def test_a_program_becomes_another_user_with_no_groups_of_ours():
    printed = run(["id"], user=NOBODY).output
    assert "uid=65534" in printed
    assert "gid=65534" in printed
    assert "0(root)" not in printed


LEAVER = """
import os, sys
quiet = os.open(os.devnull, os.O_RDWR)
if os.fork() == 0:
    if {daemon}:
        os.setsid()
        if os.fork():
            os._exit(0)
    if not {holds}:
        [os.dup2(quiet, number) for number in (0, 1, 2)]
    open("pid", "w").write(str(os.getpid()))
    os.execvp("sleep", ["sleep", "60"])
while not os.path.exists("pid") or not open("pid").read():
    pass
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no fork")
@pytest.mark.parametrize("daemon", [False, True])
@pytest.mark.parametrize("holds", [False, True], ids=["quiet", "holds-the-output"])
def test_what_a_limited_program_leaves_behind_is_ended(tmp_path, daemon, holds):
    started = time.monotonic()
    done = run([PYTHON, "-c", LEAVER.format(daemon=daemon, holds=holds)], cwd=tmp_path, limits=Limits(processes=8))
    assert time.monotonic() - started < 8
    assert (done.returncode, done.output) == (0, "done\n")
    time.sleep(0.2)
    assert not alive(int((tmp_path / "pid").read_text()))


def test_a_program_that_prints_without_end_is_ended():
    with pytest.raises(ToolError, match="ran past its limit of 32 MiB of output"):
        run(["yes"], limits=Limits(processes=8, output=32 << 20))


def test_limits_without_psutil_are_one_clear_error(monkeypatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    with pytest.raises(ToolError, match="psutil, which enforces the limits of test cases, is not installed") as caught:
        run([PYTHON, "-c", "print(1)"], limits=Limits(processes=8))
    assert "latebind[verify]" in caught.value.advice


@pytest.mark.parametrize("entries", ["", ".", "tools", ":tools:.:"], ids=["empty", "dot", "relative", "several"])
def test_a_program_in_the_working_folder_is_not_found(tmp_path, monkeypatch, entries):
    for folder in (tmp_path, tmp_path / "tools"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text("#!/bin/sh\n")
        (folder / "git").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert which("git", path=entries) is None
    monkeypatch.setenv("PATH", f"{entries}:{tmp_path / 'tools'}")
    assert which("git") == tmp_path / "tools" / "git"
    assert which("./git") == Path("git")  # named on purpose


def test_on_windows_a_program_is_found_by_its_endings_and_not_in_the_working_folder(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    (tmp_path / "bin").mkdir()
    for file in ("here/git.EXE", "bin/npm.CMD", "bin/git.EXE"):
        (tmp_path / file).touch(0o755)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("PATHEXT", ".EXE:.CMD")
    monkeypatch.setenv("PATH", f":.:{tmp_path / 'bin'}")
    assert which("git") == tmp_path / "bin" / "git.EXE"
    assert which("npm") == tmp_path / "bin" / "npm.CMD"
    assert which("git.EXE") == tmp_path / "bin" / "git.EXE"
    assert which("uv") is None


@pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows gives no output before the end")
def test_a_watcher_gets_what_was_printed_before_the_end():
    seen = []
    code = "import time; print('half', flush=True); time.sleep(1.5); print('whole')"
    ended = run([sys.executable, "-c", code], watcher=seen.append)
    assert ended.output == "half\nwhole\n"
    assert b"half\n" in seen

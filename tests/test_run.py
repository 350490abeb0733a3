"""Processes: limits, whole groups, what is shown and what is hidden."""

import os
import subprocess
import sys
import time

import pytest
from latebind.errors import ToolError
from latebind.run import run, shown

PYTHON = sys.executable


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123
        return file.read().rpartition(")")[2].split()[0] != "Z"


def test_output_and_status_come_back(tmp_path):
    done = run([PYTHON, "-c", "import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"], check=False)
    assert (done.returncode, sorted(done.output.split())) == (3, ["err", "out"])


def test_a_failure_shows_the_command_and_its_last_words():
    with pytest.raises(ToolError, match=r"failed with status 3: .* -c(.|\n)*last words"):
        run([PYTHON, "-c", "print('last words'); raise SystemExit(3)"])


def test_a_missing_program_and_a_missing_folder_are_told_apart(tmp_path):
    with pytest.raises(ToolError, match="program no-such-program is not there"):
        run(["no-such-program"])
    with pytest.raises(ToolError, match=r"folder .*nowhere is not there"):
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
    code = f"import sys; from latebind.run import run; run([sys.executable, '-c', {inner!r}])"
    process = subprocess.Popen([PYTHON, "-c", code], stderr=subprocess.DEVNULL)
    while not (child.is_file() and child.read_text()):
        time.sleep(0.05)
    process.send_signal(2)
    process.wait(timeout=20)
    time.sleep(0.2)
    assert not alive(int(child.read_text()))


def test_the_environment_is_replaced_not_extended():
    assert run([PYTHON, "-c", "import os; print('HOME' in os.environ)"], env={"A": "b"}).output.strip() == "False"


def test_standard_input_is_closed():
    assert run([PYTHON, "-c", "import sys; print(repr(sys.stdin.read()))"]).output.strip() == "''"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["x", "--token", "abc"], "x --token '***'"),
        (["x", "--api-key", "k"], "x --api-key '***'"),
        (["x", "TWINE_PASSWORD=abc"], "x 'TWINE_PASSWORD=***'"),
        (["x", "a b"], "x 'a b'"),
    ],
)
def test_secrets_are_not_shown(words, text):
    assert shown(words) == text


def test_a_log_keeps_command_and_output(tmp_path):
    log = tmp_path / "logs" / "one.log"
    run([PYTHON, "-c", "print('hello')"], log=log)
    run([PYTHON, "-c", "print('again')"], log=log)
    assert log.read_text().count("$ ") == 2
    assert "hello\n" in log.read_text()

"""What a terminal shows: lines that end between words, colors by meaning, links. A pipe gets none of it."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import zipfile

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="not run: Windows has no pty")
_CODE = re.compile(r"\033\[[\d;]*m|\033\]8;;[^\033]*\033\\")


@pytest.fixture
def package(tmp_path):
    """A package with an error, LB611: a name of secrets."""
    with zipfile.ZipFile(tmp_path / "sample.zip", "w") as archive:
        archive.writestr("sample/.env", "API_TOKEN=x")
    return tmp_path / "sample.zip"


def show(width, *argv, **variables):
    """What a program prints on a terminal of that many columns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    env = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS")}
    with subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, env={**env, "TERM": "xterm", **variables}):
        os.close(theirs)
        read = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the program ended
                break
            if not more:
                break
            read += more
    os.close(ours)
    return read.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("width", [40, 80, 200])
def test_lines_fit_and_have_the_words_that_a_pipe_gets(package, width):
    command = (sys.executable, "-m", "loadcheck", package)
    piped = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    assert max(map(len, piped.splitlines())) > 80
    assert "\033" not in piped
    lines = _CODE.sub("", show(width, *command)).splitlines()
    assert " ".join(lines).split() == piped.split()
    assert all(len(line) <= width or len(line.split()) == 1 for line in lines), lines


def test_colors_are_of_the_words_that_judge(package):
    command = (sys.executable, "-m", "loadcheck", package)
    shown = show(100, *command)
    assert "\033[1;31merror\033[0m   LB611" in shown
    assert "\033[1;36mfix:\033[0m" in shown
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\033" not in show(100, *command, **variables)


_LINKED = """
import sys
from loadcheck.terminal import fit_terminal
print(fit_terminal("Read https://example.org/a(b)c. Report: reports/a.html", links={"reports/a.html": "file:///a"}))
"""


def test_addresses_are_links():
    shown = show(80, sys.executable, "-c", _LINKED)
    assert "\033]8;;https://example.org/a(b)c\033\\https://example.org/a(b)c\033]8;;\033\\." in shown
    assert "\033]8;;file:///a\033\\reports/a.html\033]8;;\033\\\n" in shown
    assert show(80, sys.executable, "-c", _LINKED, NO_COLOR="1").startswith("Read https://example.org/a(b)c. Report: ")

"""Killed at any moment, with its children or without, latebind leaves whole packages only and nothing running.

The next run completes, also one that starts at once.
"""

import hashlib
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.client import CMAKE, CONFIG, SOURCE, write_client

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


FILES = 3
HOST = '\n[targets.linux-x64]\ntoolchain = "host"\n'
"""The machine's own compiler: zig would remember what it compiled once."""
_LIMIT = 300.0
_GONE_WITHIN = 10.0


def write_slow(folder: Path, variant: int) -> Path:
    """The small project with files that compile for a quarter of a second each; `variant` makes other ones."""
    more = "\n".join(f"target_sources(tiny PRIVATE more{number}.c)" for number in range(FILES))
    write_client(folder, latebind=CONFIG + HOST, cmakelists=CMAKE + more + "\ntarget_compile_options(tiny PRIVATE -O2)")
    for number in range(FILES):
        functions = (
            f"double f{number}_{at}(double* x, int n);\n"
            f"double f{number}_{at}(double* x, int n) {{ double s = {variant}; for (int i = 0; i < n; ++i)"
            f" s += x[i] * x[i + {at}] - s / (x[i] + {at}); return s; }}\n"
            for at in range(40)
        )
        (folder / "native" / f"more{number}.c").write_text("".join(functions), encoding="utf-8")
    (folder / "native" / "tiny.c").write_text(SOURCE.replace("+ b", f"+ b + {variant}"), encoding="utf-8")
    return folder


WRITER = """
import pathlib, subprocess, sys, time
written, quick = map(pathlib.Path, sys.argv[1:3])
if len(sys.argv) > 3:
    for _ in range(1200):
        written.open("a").write("x")
        time.sleep(0.05)
elif not quick.exists():
    subprocess.run([sys.executable, __file__, *sys.argv[1:], "now"], start_new_session=True)
written.with_name("late.c").write_text("int late;")
"""
"""What ninja starts in a group of its own, and what that starts in a session of its own, which writes for a minute."""


def write_writing(folder: Path) -> Path:
    """The small project with a step that writes for a minute, unless there is a file `quick` next to the project."""
    step = (
        "\nadd_custom_command(OUTPUT late.c COMMAND {python} ${{CMAKE_SOURCE_DIR}}/writer.py"
        " ${{CMAKE_BINARY_DIR}}/written {quick})\ntarget_sources(tiny PRIVATE late.c)\n"
    )
    write_client(folder, cmakelists=CMAKE + step.format(python=sys.executable, quick=folder.parent / "quick"))
    (folder / "native" / "writer.py").write_text(WRITER, encoding="utf-8")
    return folder


def start(folder: Path, command: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-m", "latebind.cli", "-q", "-C", str(folder), command]
    return subprocess.Popen(argv, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def finish(process: subprocess.Popen[bytes]) -> None:
    output, _ = process.communicate(timeout=_LIMIT)
    assert process.returncode == 0, output.decode()


def hash_outputs(folder: Path, command: str) -> dict[str, str]:
    """The hash of every file that a command is for: those of the stage, and packages."""
    paths = [*(folder / "stage").rglob("*"), *(folder / "dist" if command == "pack" else folder / "no").rglob("*")]
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in paths
        if path.is_file()
    }


def programs() -> dict[int, str]:
    """Every process that runs, with its words."""
    command_lines = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command_line = (
                (process / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
            )
        except OSError:
            continue
        if command_line:  # a zombie has none
            command_lines[int(process.name)] = command_line
    return command_lines


def running(folder: Path) -> list[str]:
    """What still runs for a project: programs that name its folder in their words, or are in it."""
    command_lines = []
    for pid, command_line in programs().items():
        try:
            inside = Path(f"/proc/{pid}/cwd").resolve().is_relative_to(folder)
        except OSError:
            continue
        if str(folder) in command_line or inside:
            command_lines.append(command_line)
    return command_lines


def wait_until_gone(folder: Path) -> float:
    """Wait until nothing runs for a project; how long that took. Fails when something goes on."""
    started = time.monotonic()
    while remaining := running(folder):
        assert time.monotonic() < started + _GONE_WITHIN, remaining
        time.sleep(0.05)
    return time.monotonic() - started


class Campaign:
    """Kills at random moments, always the same for one seed, and what undisturbed runs make."""

    def __init__(self, root: Path, command: str, seed: int) -> None:
        self.folder, self.command = root / "killed", command
        self.chance = random.Random(seed)  # noqa: S311  # the same moments in every run
        self.expected = [self._run_undisturbed(root / f"undisturbed{variant}", variant) for variant in range(2)]
        self.attempts, self.slowest = 0, 0.0
        finish(start(write_slow(self.folder, 1), command))
        begun = time.monotonic()
        finish(start(write_slow(self.folder, 0), command))
        self.seconds = time.monotonic() - begun

    def _run_undisturbed(self, folder: Path, variant: int) -> dict[str, str]:
        finish(start(write_slow(folder, variant), self.command))
        return hash_outputs(folder, self.command)

    def kill(self, how: signal.Signals, *, second: bool) -> bool:
        """Start, kill, and run again: at once, or when nothing is left running. Whether it came before the end."""
        self.attempts += 1
        variant = self.attempts % 2
        write_slow(self.folder, variant)
        process = start(self.folder, self.command)
        time.sleep(self.chance.random() * self.seconds)
        in_time = process.poll() is None
        process.send_signal(how)
        again = start(self.folder, self.command) if second else None
        process.communicate(timeout=_LIMIT)
        self._refuse_torn()
        if again is None:
            self.slowest = max(self.slowest, wait_until_gone(self.folder))
            again = start(self.folder, self.command)
        finish(again)
        wait_until_gone(self.folder)
        assert hash_outputs(self.folder, self.command) == self.expected[variant], f"attempt {self.attempts}, {how.name}"
        return in_time

    def _refuse_torn(self) -> None:
        """Whatever is in dist/ is whole: of this run or of the one before."""
        for path in (self.folder / "dist").glob("*"):
            if path.name.startswith("."):  # what is being made, and the record
                continue
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            assert digest in {expected.get(f"dist/{path.name}") for expected in self.expected}, path

    def run(self, signals: Iterable[signal.Signals], *, second: bool) -> None:
        """One kill for each signal; another attempt where it came too late."""
        for how in signals:
            while not self.kill(how, second=second):
                pass

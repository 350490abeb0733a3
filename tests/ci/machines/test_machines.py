"""The makers of machines: what is not what was pinned is refused, and what is missing is reported with its fix."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ci.machines import NotAvailableError, emulator, print_made, qemu, windows_python, wine
from ci.machines.__main__ import main
from latebind.system.processes import TREE

ROOT = Path(__file__).parents[3]


def test_a_wheel_that_is_not_the_pinned_one_is_refused(tmp_path, monkeypatch):
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "panda3d-1.10.16-cp311-cp311-win_amd64.whl").write_bytes(b"another's")
    monkeypatch.setenv("LATEBIND_BENCH_CACHE", str(tmp_path))
    monkeypatch.setattr(windows_python, "_library", lambda _version: tmp_path)
    with pytest.raises(NotAvailableError, match="is not the pinned wheel"):
        windows_python.prepare(tmp_path / "made")
    assert [path.name for path in (tmp_path / "made").iterdir()] == [".python.lock"]


def test_a_maker_without_a_folder_or_asked_for_help_prints_its_usage(monkeypatch, capsys):
    for words in ([], ["--help"]):
        monkeypatch.setattr(sys, "argv", ["ci/machines/mono.py", *words])
        assert print_made(lambda folder: pytest.fail(f"made {folder}")) == 2
        assert capsys.readouterr().err == "usage: python -m ci.machines.mono FOLDER\n"


@pytest.mark.skipif(sys.platform == "win32", reason="not run: the permissions are those of Linux and macOS")
def test_who_may_use_what_was_made_depends_on_the_umask(tmp_path):
    program = (
        "import os, sys; from pathlib import Path; from ci.machines import make_once; os.umask(int(sys.argv[2], 8)); "
        "make_once(Path(sys.argv[1]), lambda folder: (folder / 'program').touch())"
    )
    for umask, mode in (("022", 0o755), ("027", 0o750)):
        made = tmp_path / umask
        subprocess.run([sys.executable, "-c", program, made, umask], cwd=ROOT, check=True)
        assert made.stat().st_mode & 0o777 == mode
        assert sorted(path.name for path in tmp_path.iterdir() if umask in path.name) == [f".{umask}.lock", umask]


def test_without_zig_there_is_no_windows_python(tmp_path, monkeypatch):
    monkeypatch.setattr(windows_python, "_library", lambda _version: tmp_path)
    monkeypatch.setattr(windows_python, "find_zig", lambda: None)
    with pytest.raises(NotAvailableError, match="zig is missing: pip install"):
        windows_python.prepare(tmp_path / "made")


def test_what_is_not_available_is_told_with_its_cure_and_its_file_goes(tmp_path, monkeypatch, capsys):
    for module in (wine, qemu):
        monkeypatch.setattr(module.shutil, "which", lambda *_, **__: None)
    monkeypatch.setattr(wine, "_FOLDER", tmp_path)
    monkeypatch.setitem(sys.modules, "unicorn", None)
    (tmp_path / "win-x64.toml").write_text("", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["machines", str(tmp_path)])
    assert main() == 0
    printed = capsys.readouterr().out
    assert "win-x64      not available: " in printed
    assert "pip install unicorn" in printed
    assert "apt-get install --no-install-recommends wine64" in printed
    assert "apt-get install --no-install-recommends qemu-user-static" in printed
    assert not list(tmp_path.glob("*.toml"))


def test_the_forwarder_hands_the_stable_abi_on():
    source = windows_python.forwarder("python311")
    assert '-export:PyModule_Create2=python311.PyModule_Create2\\"' in source.replace('\\""', '\\"')
    assert "-export:PyBool_Type=python311.PyBool_Type,DATA" in source
    assert "PyType_FromMetaclass=" not in source  # since 3.12


def test_each_user_gets_a_prefix_of_its_own(tmp_path):
    with wine.lock_free(tmp_path, 2) as first, wine.lock_free(tmp_path, 2) as second:
        assert {first.name, second.name} == {"wine-0", "wine-1"}
    with wine.lock_free(tmp_path, 2) as again:
        assert again.name == "wine-0"


@pytest.mark.skipif(sys.platform != "linux", reason="not run: limits of other programs' processes are Linux's here")
class TestGroup:
    """Programs with limits."""

    def test_a_program_over_its_time_is_ended_and_its_words_are_kept(self):
        group = emulator.Group(emulator.Limits(seconds=0.5))
        with pytest.raises(emulator.LimitError, match=r"over 0\.5 seconds") as caught:
            group.run(["sh", "-c", "echo said; sleep 60"], {"PATH": "/usr/bin:/bin"})
        assert caught.value.output == b"said\n"
        assert group.members() == []

    def test_output_larger_than_a_pipe_arrives_whole(self):
        done = emulator.Group().run([sys.executable, "-c", "print('x' * 3_000_000)"], {})
        assert len(done.stdout) == 3_000_001

    def test_input_is_fed_or_nothing(self):
        assert emulator.Group().run(["cat"], {"PATH": "/usr/bin:/bin"}, feed=b"words").stdout == b"words"
        assert emulator.Group().run(["cat"], {"PATH": "/usr/bin:/bin"}).stdout == b""

    def test_what_lives_on_is_not_waited_for_and_ends_with_the_group(self):
        group = emulator.Group()
        started = time.monotonic()
        assert group.run(["sh", "-c", "sleep 60 & echo done"], {"PATH": "/usr/bin:/bin"}).stdout == b"done\n"
        assert time.monotonic() - started < 30
        assert len(group.members()) == 1
        group.close()
        assert group.members() == []

    def test_a_program_that_always_just_begins_is_ended_too(self, tmp_path):
        group, again = emulator.Group(), tmp_path / "again"
        again.write_text('#!/bin/sh\nexec "$0"\n')
        again.chmod(0o755)
        with subprocess.Popen([again], env={"PATH": "/usr/bin:/bin", TREE: group.mark}) as running:
            group.close()
            assert running.wait(20) == -signal.SIGKILL

    def test_all_of_it_ends_when_its_owner_is_killed(self):
        code = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
            "from ci.machines.emulator import Group\n"
            "from latebind.system.processes import watched_over\n"
            "with watched_over():\n"
            "    group = Group()\n"
            "    print(group.mark, flush=True)\n"
            "    group.run(['sleep', '60'], {'PATH': '/usr/bin:/bin'})"
        )
        owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
        group = emulator.Group()
        group.mark = owner.stdout.readline().strip()
        assert wait_for(lambda: any("sleep" in command(pid) for pid in group.members()))
        owner.send_signal(signal.SIGKILL)
        owner.communicate()
        assert wait_for(lambda: not group.members())


def wait_for(condition):
    end = time.monotonic() + 20
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def command(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text("utf-8")
    except OSError:
        return ""

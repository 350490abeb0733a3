"""Killed at any moment, with its children or without, latebind leaves whole packages only; the next run completes."""

import hashlib
import random
import shutil
import subprocess
import sys
import time

import pytest

from tests.client import PORTABLE_SOURCE, write_portable

MOMENTS = 20
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

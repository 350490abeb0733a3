"""A Debian in a folder is kept between runs, while this computer's own folders come and go."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ci.machines import chroot
from ci.machines.emulator import Group
from tests.support.emulated import cache
from tests.support.needs import available

pytestmark = pytest.mark.slow


@pytest.fixture
def system(tmp_path):
    """A copy, since other tests run programs in the one that is kept."""
    kept = available(chroot.prepare, cache() / "debian12", None, "debian12").root
    root = tmp_path / "root"
    shutil.copytree(kept, root, symlinks=True)
    emulator = chroot.Chroot(Group(), root, root / "usr/bin/python3")
    yield emulator
    emulator.close()


def test_a_folder_that_this_computer_got_later_is_seen(system, tmp_path):
    shutil.rmtree(system.root / tmp_path.parts[1], ignore_errors=True)
    (tmp_path / "file").write_text("seen")
    ended = system.run(Path("/bin/sh"), "-c", f"cat {tmp_path}/file")
    assert (ended.returncode, ended.stdout) == (0, b"seen"), ended.stderr

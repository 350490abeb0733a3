"""A folder that another user cannot reach is named, with the command that opens it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest

from latebind.verify.run.access import assert_reached
from tests.support.running import not_run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="not run: the permissions are those of Linux and macOS")


def test_a_folder_that_others_cannot_enter_is_named_with_the_command_that_opens_it():
    with tempfile.TemporaryDirectory() as name:  # in a folder that everybody may enter, as pytest's own are not
        closed = Path(name)
        closed.chmod(0o700)
        with not_run("no-access", rf"cannot reach {closed}\nhelp: chmod o\+x .*{closed}$"):
            assert_reached(closed / "file")
        closed.chmod(0o701)
        assert_reached(closed / "file")

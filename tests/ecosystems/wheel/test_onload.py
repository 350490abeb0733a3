"""What a library does when it is loaded, seen in real libraries that a compiler made."""

import json
import sys

import pytest

from latebind.ecosystems.wheel.environment import _ONLOAD as _PROGRAM
from research.broken import loading, natives
from tests.programs import run_checked, run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="not run: the libraries are compiled for Linux")


def load_library(folder, source):
    """What was printed, the status, and what had changed; None when the process did not get so far."""
    library, out = folder / "liblatenn_helper.so", folder / "changed.json"
    library.write_bytes(natives.compile_library(source))
    ended = run_program(sys.executable, "-I", _PROGRAM, out, library)
    changed = json.loads(out.read_text("utf-8")) if out.is_file() else None
    return ended.stdout + ended.stderr, ended.returncode, changed


@pytest.mark.parametrize(
    ("source", "printed", "status", "changed"),
    [
        ("int latenn_version(void) { return 1; }\n", "", 0, []),
        (loading._PRINTS, "latenn 0.1.0 loaded\n", 0, []),
        (loading._ENDS, "", 0, None),
        (loading._CRASHES, "", -11, None),
        (loading._ROUNDS, "", 0, ["how numbers are rounded"]),
        (loading._FLUSHES, "", 0, ["how denormal numbers are computed"]),
        (loading._HANDLES, "", 0, ["which signals are handled"]),
        (loading._SETS, "", 0, ["the environment variables"]),
    ],
)
def test_what_loading_alone_does_is_seen(tmp_path, source, printed, status, changed):
    assert load_library(tmp_path, source) == (printed, status, changed)


def test_what_is_no_library_does_nothing(tmp_path):
    text, out = tmp_path / "a.so", tmp_path / "changed.json"
    text.write_text("a text")
    run_checked(sys.executable, "-I", _PROGRAM, out, text)
    assert json.loads(out.read_text("utf-8")) == []

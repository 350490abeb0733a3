"""The failure on the start page: a program that links ONNX Runtime does not survive an update of it."""

import importlib.metadata
import shutil
import sys

import pytest

from ci.runtime_update import OLD, show_update
from tests.conftest import ROOT

PAGE = (ROOT / "docs/index.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.skipif(
    sys.platform != "linux" or not shutil.which("cc"),
    reason="not run: needs Linux and a C compiler: apt-get install gcc",
)
def test_a_linked_program_ends_and_one_that_binds_late_goes_on(tmp_path):
    printed = show_update(tmp_path)
    newest = importlib.metadata.version("onnxruntime")
    assert printed["late"] == (f"uses ONNX Runtime {OLD}", f"uses ONNX Runtime {newest}")
    before, after = printed["linked"]
    assert before == f"uses ONNX Runtime {OLD}"
    assert after == f"./linked: lib/libonnxruntime.so.1: version `VERS_{OLD}' not found (required by ./linked)"

    assert f"``{after}``" in PAGE
    assert f"`{before}`" in PAGE

"""Bound values in C: with the real ONNX Runtime, and with a backend of the first interface, which has no values."""

import sys

import models
import pytest


@pytest.fixture
def step(tmp_path):
    """The model of bound.c."""
    path = tmp_path / "step.onnx"
    path.write_bytes(models.step(0.5, 4))
    return path


@pytest.mark.slow
def test_the_runtime_binds_values(programs, onnxruntime, step):
    assert programs.run("bound", step, onnxruntime.parent, programs.folder / "latenn", "-").stdout == b"all well\n"


@pytest.mark.slow
def test_where_a_backend_has_no_values_the_core_copies(programs, step):
    folder = programs.folder / "backends"
    assert programs.run("bound", step, folder, folder, "plain").stdout == b"all well\n"


def test_64_threads_share_a_model_and_each_others_values(programs):
    backend = programs.folder / "backends" / "liblatenn_backend_plain.so"
    assert programs.run("crowd", backend).stdout == b"all well\n"


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="not run: tried with the sanitizers of Linux alone")
def test_no_two_threads_meet_unguarded(thread_programs):
    if thread_programs.sanitizers != "thread":
        pytest.skip("not run: the compiler has no thread sanitizer: apt-get install gcc")
    backend = thread_programs.folder / "backends" / "liblatenn_backend_plain.so"
    assert thread_programs.run("crowd", backend).stdout == b"all well\n"

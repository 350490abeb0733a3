"""Bound values in C: with the real ONNX Runtime, and with a backend of the first interface, which has no values."""

import sys

import pytest

onnx = pytest.importorskip("onnx", reason="not run: the onnx package is missing")
helper, proto = onnx.helper, onnx.TensorProto


@pytest.fixture
def step(tmp_path):
    """The model of bound.c."""
    nodes = [
        helper.make_node("Add", ["state", "half"], ["next"]),
        helper.make_node("NonZero", ["state"], ["places"]),
        helper.make_node("Transpose", ["places"], ["count"]),
    ]
    graph = helper.make_graph(
        nodes,
        "step",
        [helper.make_tensor_value_info("state", proto.FLOAT, [4])],
        [
            helper.make_tensor_value_info("next", proto.FLOAT, [4]),
            helper.make_tensor_value_info("count", proto.INT64, ["rows", 1]),
        ],
        [helper.make_tensor("half", proto.FLOAT, [1], [0.5])],
    )
    path = tmp_path / "step.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def test_the_runtime_binds_values(programs, onnxruntime, step):
    assert programs.run("bound", step, onnxruntime.parent, programs.folder / "latenn", "-").stdout == b"all well\n"


def test_where_a_backend_has_no_values_the_core_copies(programs, step):
    folder = programs.folder / "backends"
    assert programs.run("bound", step, folder, folder, "plain").stdout == b"all well\n"


def test_64_threads_share_a_model_and_each_others_values(programs):
    backend = programs.folder / "backends" / "liblatenn_backend_plain.so"
    assert programs.run("sharing", backend).stdout == b"all well\n"


@pytest.mark.skipif(sys.platform != "linux", reason="not run: tried with the sanitizers of Linux alone")
def test_no_two_threads_meet_unguarded(watched):
    if watched.sanitizers != "thread":
        pytest.skip("not run: there is no thread sanitizer")
    backend = watched.folder / "backends" / "liblatenn_backend_plain.so"
    assert watched.run("sharing", backend).stdout == b"all well\n"

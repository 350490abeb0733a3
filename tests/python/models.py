"""Small ONNX models for tests."""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper


def model(nodes, inputs, outputs, *, opset=17, initializers=()):
    """The bytes of a model of IR version 8, which ONNX Runtime 1.19 reads. Ports are (name, type, shape)."""
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(*port) for port in inputs],
        [helper.make_tensor_value_info(*port) for port in outputs],
        initializer=list(initializers),
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(made)
    return made.SerializeToString()


def identity(kind=TensorProto.FLOAT, shape=("n",)):
    """y = x."""
    return model([helper.make_node("Identity", ["x"], ["y"])], [("x", kind, shape)], [("y", kind, shape)])


def add(shape=(2, "width")):
    """sum = left + right; twice = sum + sum."""
    nodes = [helper.make_node("Add", ["left", "right"], ["sum"]), helper.make_node("Add", ["sum", "sum"], ["twice"])]
    ports = [(name, TensorProto.FLOAT, shape) for name in ("left", "right", "twice", "sum")]
    return model(nodes, ports[:2], ports[2:])


def sequence():
    """A model whose output is a sequence."""
    node = helper.make_node("SequenceConstruct", ["x"], ["s"])
    graph = helper.make_graph(
        [node],
        "test",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])],
        [helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, [1])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return made.SerializeToString()

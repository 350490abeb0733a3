"""Small ONNX models for tests."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
from onnx import TensorProto, helper


def model(nodes, inputs, outputs, *, opset=17, ir=8, initializers=(), domains=(), checked=True):
    """The bytes of a model, whose IR version 8 ONNX Runtime 1.19 reads. Ports are (name, type, shape), or onnx's own.

    onnx's checker refuses ports without a shape, data in files and operators that it does not know.
    """
    ports = [[helper.make_tensor_value_info(*port) if isinstance(port, tuple) else port for port in side]
             for side in (inputs, outputs)]  # fmt: skip
    graph = helper.make_graph(nodes, "test", *ports, initializer=list(initializers))
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(name, 1) for name in domains)]
    proto = helper.make_model(graph, opset_imports=opsets, ir_version=ir)
    if checked and all(port[2] is not None for port in (*inputs, *outputs) if isinstance(port, tuple)):
        onnx.checker.check_model(proto)
    return proto.SerializeToString()


def identity(kind=TensorProto.FLOAT, shape=("n",), **versions):
    """y = x."""
    return model([helper.make_node("Identity", ["x"], ["y"])], [("x", kind, shape)], [("y", kind, shape)], **versions)


def add(shape=(2, "width")):
    """sum = left + right; twice = sum + sum."""
    nodes = [helper.make_node("Add", ["left", "right"], ["sum"]), helper.make_node("Add", ["sum", "sum"], ["twice"])]
    ports = [(name, TensorProto.FLOAT, shape) for name in ("left", "right", "twice", "sum")]
    return model(nodes, ports[:2], ports[2:])


def step(amount=1.0, size="n"):
    """next = state + amount; places: a row for each number of state that is not zero."""
    nodes = [
        helper.make_node("Add", ["state", "amount"], ["next"]),
        helper.make_node("NonZero", ["state"], ["columns"]),
        helper.make_node("Transpose", ["columns"], ["places"]),
    ]
    outputs = [("next", TensorProto.FLOAT, [size]), ("places", TensorProto.INT64, ["rows", 1])]
    more = helper.make_tensor("amount", TensorProto.FLOAT, [1], [amount])
    return model(nodes, [("state", TensorProto.FLOAT, [size])], outputs, initializers=[more])


def sequence():
    """A model whose output is a sequence."""
    node = helper.make_node("SequenceConstruct", ["x"], ["s"])
    output = helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, [1])
    return model([node], [("x", TensorProto.FLOAT, [1])], [output])


def optional():
    """A model whose output is an optional value."""
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [1]))
    node = helper.make_node("Optional", ["x"], ["s"])
    return model([node], [("x", TensorProto.FLOAT, [1])], [helper.make_value_info("s", kind)])


def halves(kind, size="n"):
    """wide = the 4-bit numbers x as floats; narrow = wide as 4-bit numbers.

    Only the second has a zero point, or ONNX Runtime would turn the two into an Identity, which it lacks for this type.
    """
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "one"], ["wide"]),
        helper.make_node("QuantizeLinear", ["wide", "one", "zero"], ["narrow"]),
    ]
    x, narrow = ((name, kind, [size]) for name in ("x", "narrow"))
    one = helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])
    zero = helper.make_tensor("zero", kind, [], [0])
    wide = ("wide", TensorProto.FLOAT, [size])
    return model(nodes, [x], [wide, narrow], opset=21, ir=10, initializers=[one, zero])


def relu(count, shape):
    """A chain of Relu from x to y."""
    names = ["x", *(f"t{index}" for index in range(1, count)), "y"]
    nodes = [helper.make_node("Relu", [source], [other]) for source, other in itertools.pairwise(names)]
    return model(nodes, [("x", TensorProto.FLOAT, shape)], [("y", TensorProto.FLOAT, shape)])


def untrue(width):
    """A Relu whose output declares 100 rows, as an exporter may write it; it has as many as the input."""
    node = helper.make_node("Relu", ["x"], ["y"])
    return model([node], [("x", TensorProto.FLOAT, ("n", width))], [("y", TensorProto.FLOAT, (100, width))])


def concat_rows():
    """y = x after x, of twice the rows, which are reported to be as many as those of x: an exporter's wrong name."""
    node = helper.make_node("Concat", ["x", "x"], ["y"], axis=0)
    return model([node], [("x", TensorProto.FLOAT, ("n", 300))], [("y", TensorProto.FLOAT, ("n", 300))])


def gather():
    """y = [10, 20, 30][x], which fails for an x beyond."""
    indices = helper.make_tensor("rows", TensorProto.INT64, [3], [10, 20, 30])
    node = helper.make_node("Gather", ["rows", "x"], ["y"])
    ports = [(name, TensorProto.INT64, [1]) for name in ("x", "y")]
    return model([node], ports[:1], ports[1:], initializers=[indices])


def nonzero(count="count"):
    """y = the places where x is not zero, as many as there are; `count` is what the model calls that."""
    node = helper.make_node("NonZero", ["x"], ["y"])
    return model([node], [("x", TensorProto.FLOAT, ("n",))], [("y", TensorProto.INT64, (1, count))])


PLAIN = {
    "float32": TensorProto.FLOAT,
    "uint8": TensorProto.UINT8,
    "int8": TensorProto.INT8,
    "uint16": TensorProto.UINT16,
    "int16": TensorProto.INT16,
    "int32": TensorProto.INT32,
    "int64": TensorProto.INT64,
    "bool": TensorProto.BOOL,
    "float16": TensorProto.FLOAT16,
    "float64": TensorProto.DOUBLE,
    "uint32": TensorProto.UINT32,
    "uint64": TensorProto.UINT64,
}
SHAPES = ((), (3,), (2, 0), (2, 3))


def write_portable(folder):
    """The models of accelerated.py, for Pythons that have no onnx."""
    files = {
        "small": relu(1, (2, 3)),
        "open": relu(2, ("n", 3)),
        "large": relu(1, (300, 400)),
        "wide": relu(1, ("n",)),
        "ports": add((2, "width")),
        "untrue": untrue(3),
        "untrue_large": untrue(300),
        "doubled": concat_rows(),
        "gather": gather(),
        "nonzero_said_full": nonzero("n"),
        "nonzero": nonzero(),
        **{f"same_{name}_{rank}": identity(kind, [None] * rank) for name, kind in PLAIN.items() for rank in (0, 1, 3)},
    }
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.onnx").write_bytes(content)
    return folder


def endless():
    """y = a number that is counted up for as long as one waits: a Loop of 2**62 rounds."""
    kinds = {"round": TensorProto.INT64, "going": TensorProto.BOOL, "before": TensorProto.FLOAT}
    nodes = [
        helper.make_node("Identity", ["going"], ["goes_on"]),
        helper.make_node("Add", ["before", "one"], ["after"]),
    ]
    body = helper.make_graph(
        nodes,
        "body",
        [helper.make_tensor_value_info(name, kind, []) for name, kind in kinds.items()],
        [
            helper.make_tensor_value_info("goes_on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("after", TensorProto.FLOAT, []),
        ],
        initializer=[helper.make_tensor("one", TensorProto.FLOAT, [], [1.0])],
    )
    most = helper.make_tensor("most", TensorProto.INT64, [], [2**62])
    node = helper.make_node("Loop", ["most", "", "x"], ["y"], body=body)
    ports = [(name, TensorProto.FLOAT, []) for name in "xy"]
    return model([node], ports[:1], ports[1:], initializers=[most])


def outside(name="weights.bin"):
    """y = x + what the file `name` holds: three floats."""
    weights = helper.make_tensor("weights", TensorProto.FLOAT, [3], [0.0] * 3)
    weights.ClearField("float_data")
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value=name)
    weights.external_data.add(key="length", value="12")
    node = helper.make_node("Add", ["x", "weights"], ["y"])
    x, y = ((name, TensorProto.FLOAT, [3]) for name in "xy")
    return model([node], [x], [y], initializers=[weights], checked=False)


def add_delta():
    """y = x + delta, where delta is 0 unless a LoRA adapter says otherwise."""
    delta = helper.make_tensor("delta", TensorProto.FLOAT, [3], [0.0] * 3)
    ports = [(name, TensorProto.FLOAT, [3]) for name in ("x", "delta", "y")]
    node = helper.make_node("Add", ["x", "delta"], ["y"])
    return model([node], ports[:2], ports[2:], initializers=[delta])


def adapter(path, *delta):
    """A LoRA adapter of that model."""
    import onnxruntime  # noqa: PLC0415  # few tests need it

    lora_adapter = onnxruntime.AdapterFormat()
    lora_adapter.set_adapter_version(1)
    lora_adapter.set_model_version(1)
    lora_adapter.set_parameters({"delta": onnxruntime.OrtValue.ortvalue_from_numpy(np.array(delta, np.float32))})
    lora_adapter.export_adapter(str(path))
    return path


def omit_attributes():
    """A model of latenn's operator that lacks all its attributes: only the operator's library can say so."""
    node = helper.make_node("Model", ["x"], ["y"], domain="latenn")
    x, y = ((name, TensorProto.FLOAT, [3]) for name in "xy")
    return model([node], [x], [y], domains=["latenn"], checked=False)


def describe_identity():
    """y = x, in a model that says much of itself."""
    proto = onnx.load_from_string(identity(shape=[1]))
    proto.producer_name, proto.domain, proto.doc_string, proto.model_version = "tests", "org.example", 'a "model"\n', 7
    proto.graph.doc_string = "its graph"
    helper.set_model_props(proto, {"kéy": "välue\t"})
    return proto.SerializeToString()


DESCRIBED = {
    "producer_name": "tests",
    "graph_name": "test",
    "domain": "org.example",
    "description": 'a "model"\n',
    "graph_description": "its graph",
    "version": 7,
    "custom": {"kéy": "välue\t"},
}
"""What `described` says."""


def relu_of_three():
    """y = Relu(x) of three floats, which the example's execution provider computes."""
    return relu(1, (3,))

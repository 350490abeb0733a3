"""Writes the cases for LiteRT: small TensorFlow Lite models of many types, written with its schema.

    python tflite_cases.py FOLDER

Needs ai-edge-litert and NumPy. case_files.py says what the files hold. The expected outputs are those of
ai-edge-litert's own interpreter when the cases are written.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

sys.path.append(str(Path(__file__).parent))
from case_files import write_cases  # a module next to this script, which runs isolated

OP, KIND, OPTIONS = schema.BuiltinOperator, schema.TensorType, schema.BuiltinOptions

# NumPy's name: TFLite's number, ONNX's number (which latenn takes).
TYPES = {
    "float32": (KIND.FLOAT32, 1),
    "uint8": (KIND.UINT8, 2),
    "int8": (KIND.INT8, 3),
    "uint16": (KIND.UINT16, 4),
    "int16": (KIND.INT16, 5),
    "int32": (KIND.INT32, 6),
    "int64": (KIND.INT64, 7),
    "bool": (KIND.BOOL, 9),
    "float16": (KIND.FLOAT16, 10),
    "float64": (KIND.FLOAT64, 11),
    "uint32": (KIND.UINT32, 12),
    "uint64": (KIND.UINT64, 13),
    "complex64": (KIND.COMPLEX64, 14),
}


@dataclass(frozen=True)
class Tensor:
    """A tensor of a model. -1 is an open dimension; `data` makes it a constant, `scale` a quantised one."""

    kind: str
    shape: tuple[int, ...]
    data: Any = None
    scale: float = 0.0
    zero: int = 0


@dataclass(frozen=True)
class Node:
    """One operation."""

    code: int
    inputs: str
    outputs: str
    options: Any = None
    version: int = 1


@dataclass(frozen=True)
class Case:
    """A model, and the shapes that stand for its open dimensions."""

    tensors: dict[str, Tensor]
    nodes: tuple[Node, ...]
    inputs: str
    outputs: str
    shapes: tuple[dict[str, tuple[int, ...]], ...] = ({},)
    signature: str = ""


def alike(code: int, kind: str = "float32", shape: tuple[int, ...] = (2, 3), **more: Any) -> Case:
    """y = code(a, b), all of one type and shape."""
    shapes = more.pop("shapes", ({},))
    signature = more.pop("signature", "")
    tensors = {name: Tensor(kind, shape, **{k: v for k, v in more.items() if k in {"scale", "zero"}}) for name in "aby"}
    node = Node(code, "a b", "y", more.get("options"), more.get("version", 1))
    return Case(tensors, (node,), "a b", "y", shapes, signature)


def build_unary(code: int, source: Tensor, result: Tensor, options: Any = None, version: int = 1) -> Case:
    """y = code(x)."""
    return Case({"x": source, "y": result}, (Node(code, "x", "y", options, version),), "x", "y")


def set_up(options: Any, **fields: Any) -> Any:
    """An object of the schema with some fields set."""
    for name, value in fields.items():
        setattr(options, name, value)
    return options


def cast(source: str, target: str) -> Case:
    """y = x in another type."""
    return build_unary(OP.CAST, Tensor(source, (2, 5)), Tensor(target, (2, 5)), schema.CastOptionsT(), 1)


F32 = "float32"
CASES: dict[str, Case] = {  # of types, ranks and shapes: operations are the runtime's own affair
    "add": alike(OP.ADD, options=schema.AddOptionsT()),
    "add_signature": alike(OP.ADD, options=schema.AddOptionsT(), signature="serve"),
    "add_scalar": alike(OP.ADD, shape=(), options=schema.AddOptionsT()),
    "add_rank_5": alike(OP.ADD, shape=(1, 2, 3, 2, 1), options=schema.AddOptionsT()),
    "add_int32": alike(OP.ADD, "int32", options=schema.AddOptionsT()),
    "add_int64": alike(OP.ADD, "int64", options=schema.AddOptionsT(), version=4),
    "add_int8": alike(OP.ADD, "int8", (4, 4), scale=0.5, zero=3, options=schema.AddOptionsT(), version=2),
    "add_uint8": alike(OP.ADD, "uint8", (4, 4), scale=0.25, zero=128, options=schema.AddOptionsT()),
    "mul_int16": alike(OP.MUL, "int16", (4, 4), scale=0.01, options=schema.MulOptionsT(), version=4),
    "add_open": alike(
        OP.ADD, shape=(-1, 3), options=schema.AddOptionsT(), shapes=tuple({"a": (n, 3), "b": (n, 3)} for n in (1, 7, 2))
    ),
    "mul_open_both": alike(
        OP.MUL, shape=(-1, -1), options=schema.MulOptionsT(), shapes=({"a": (3, 4), "b": (3, 4)},)
    ),
    "equal": Case(
        {"a": Tensor("int32", (6,)), "b": Tensor("int32", (6,)), "y": Tensor("bool", (6,))},
        (Node(OP.EQUAL, "a b", "y", schema.EqualOptionsT()),), "a b", "y",
    ),
    "quantize": build_unary(
        OP.QUANTIZE, Tensor(F32, (2, 5)), Tensor("int8", (2, 5), None, 0.1, 4), schema.QuantizeOptionsT()
    ),
    "complex_abs": build_unary(OP.COMPLEX_ABS, Tensor("complex64", (4,)), Tensor(F32, (4,))),
    "cast_int32": cast(F32, "int32"),
    "cast_int64": cast(F32, "int64"),
    "cast_uint8": cast("int32", "uint8"),
    "cast_int16": cast("int16", F32),
    "cast_uint32": cast("uint32", F32),
    "cast_uint16": cast("uint16", F32),
    "cast_bool": cast("bool", F32),
    "cast_float64": cast("float64", F32),
    "cast_float16": cast("float16", F32),
    "gather": Case(
        {"x": Tensor(F32, (4, 2)), "i": Tensor("int32", (3,), [2, 0, 3]), "y": Tensor(F32, (3, 2))},
        (Node(OP.GATHER, "x i", "y", schema.GatherOptionsT()),), "x", "y",
    ),
    "concatenation": Case(
        {**{name: Tensor(F32, (2, 2)) for name in "abc"}, "y": Tensor(F32, (2, 6))},
        (Node(OP.CONCATENATION, "a b c", "y", set_up(schema.ConcatenationOptionsT(), axis=1)),), "a b c", "y",
    ),
    "two_outputs": Case(
        {name: Tensor(F32, (2, 2)) for name in ("a", "b", "sum", "product")},
        (Node(OP.ADD, "a b", "sum", schema.AddOptionsT()), Node(OP.MUL, "a b", "product", schema.MulOptionsT())),
        "a b", "product sum",
    ),
    "types_mixed": Case(
        {"x": Tensor(F32, (4,)), "n": Tensor("int64", (2,)), "y": Tensor("int32", (4,)), "m": Tensor("int64", (2,))},
        (
            Node(OP.CAST, "x", "y", schema.CastOptionsT()),
            Node(OP.ADD, "n n", "m", schema.AddOptionsT(), 4),
        ),
        "x n", "m y",
    ),
}  # fmt: skip


def write(case: Case) -> bytes:
    """The bytes of a model."""
    graph, model = schema.SubGraphT(), schema.ModelT()
    model.version, model.buffers, model.operatorCodes = 3, [schema.BufferT()], []
    indexes = {name: index for index, name in enumerate(case.tensors)}
    graph.tensors = [_tensor(model, name, tensor) for name, tensor in case.tensors.items()]
    graph.operators = [_operator(model, node, indexes) for node in case.nodes]
    graph.inputs = [indexes[name] for name in case.inputs.split()]
    graph.outputs = [indexes[name] for name in case.outputs.split()]
    model.subgraphs = [graph]
    if case.signature:
        model.signatureDefs = [_signature(case, indexes)]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _tensor(model: Any, name: str, tensor: Tensor) -> Any:
    entry = schema.TensorT()
    entry.name, entry.type, entry.hasRank, entry.buffer = name, TYPES[tensor.kind][0], True, 0
    entry.shape = [abs(size) for size in tensor.shape]
    if -1 in tensor.shape:
        entry.shapeSignature = list(tensor.shape)
    if tensor.data is not None:
        content = schema.BufferT()
        content.data = list(np.asarray(tensor.data, tensor.kind).tobytes())
        model.buffers.append(content)
        entry.buffer = len(model.buffers) - 1
    if tensor.scale:
        entry.quantization = set_up(schema.QuantizationParametersT(), scale=[tensor.scale], zeroPoint=[tensor.zero])
    return entry


def _operator(model: Any, node: Node, indexes: dict[str, int]) -> Any:
    # The old field of the code held a byte; newer codes have its largest number there.
    code = set_up(
        schema.OperatorCodeT(), builtinCode=node.code, deprecatedBuiltinCode=min(node.code, 127), version=node.version
    )
    model.operatorCodes.append(code)
    operator = set_up(schema.OperatorT(), opcodeIndex=len(model.operatorCodes) - 1)
    operator.inputs = [indexes[name] for name in node.inputs.split()]
    operator.outputs = [indexes[name] for name in node.outputs.split()]
    if node.options is not None:
        operator.builtinOptions = node.options
        operator.builtinOptionsType = getattr(OPTIONS, type(node.options).__name__.removesuffix("T"))
    return operator


def _signature(case: Case, indexes: dict[str, int]) -> Any:
    signature = set_up(schema.SignatureDefT(), signatureKey=case.signature, subgraphIndex=0)
    for side in ("inputs", "outputs"):
        names = getattr(case, side).split()
        setattr(signature, side, [set_up(schema.TensorMapT(), name=name, tensorIndex=indexes[name]) for name in names])
    return signature


def arrays(case: Case, shapes: dict[str, tuple[int, ...]], seed: int) -> dict[str, Any]:
    """Inputs of a case: small numbers that every type holds."""
    random = np.random.default_rng(seed)
    inputs = {}
    for name in case.inputs.split():
        tensor = case.tensors[name]
        values = random.integers(0, 2 if tensor.kind == "bool" else 50, shapes.get(name, tensor.shape))
        inputs[name] = np.asarray(values).astype(tensor.kind)
    return inputs


def compute(model: bytes, inputs: dict[str, Any]) -> dict[str, Any]:
    """What LiteRT's own interpreter gives, by the names of the model."""
    interpreter = Interpreter(model_content=model)
    ports = {details["name"]: details["index"] for details in interpreter.get_input_details()}
    for name, array in inputs.items():
        interpreter.resize_tensor_input(ports[name], array.shape)
    interpreter.allocate_tensors()
    for name, array in inputs.items():
        interpreter.set_tensor(ports[name], array)
    interpreter.invoke()
    return {
        details["name"]: np.asarray(interpreter.get_tensor(details["index"]))
        for details in interpreter.get_output_details()
    }


def main() -> int:
    """Write the two files. Exit status 2 for usage."""
    if len(sys.argv) != 2:  # noqa: PLR2004  # program and folder
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    blob = bytearray()
    cases = [_row(name, case, blob) for name, case in CASES.items()]
    (folder / "cases.bin").write_bytes(blob)
    document = {"source": "made for LiteRT", "cases": cases, "out_of_scope": {}}
    write_cases(folder, document)
    print(f"{len(cases)} cases")
    return 0


def _row(name: str, case: Case, blob: bytearray) -> dict[str, Any]:
    model = write(case)
    sets = []
    for number, shapes in enumerate(case.shapes):
        inputs = arrays(case, shapes, seed=number)
        computed = compute(model, inputs)
        outputs = {port: computed[port] for port in case.outputs.split()}
        sets.append({"inputs": _tensors(inputs, blob), "outputs": _tensors(outputs, blob)})
    return {"name": name, "model": _place(blob, model), "rtol": 1e-5, "atol": 1e-6, "sets": sets}


def _tensors(values: dict[str, Any], blob: bytearray) -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "type": TYPES[str(value.dtype)][1],
            "shape": list(value.shape),
            "data": _place(blob, value.tobytes()),
            "offsets": None,
        }
        for name, value in values.items()
    ]


def _place(blob: bytearray, data: bytes) -> list[int]:
    blob.extend(data)
    return [len(blob) - len(data), len(data)]


if __name__ == "__main__":
    sys.exit(main())

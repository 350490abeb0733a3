"""Makes damaged and hostile ONNX models with latenn's operator in them: equal keys give equal models.

A case changes bytes of a good graph, gives its attributes texts that lead elsewhere, or wraps a damaged model: in the
graph, or as a file of the folder that the session allows.
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import flatbuffers
import onnx
from ai_edge_litert import schema_py_generated as schema
from onnx import TensorProto, helper

from tests.support.mutation import mutate_subject

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "verify"))
import tflite_cases as tflite  # is next to latenn's consumers

SIGN = "hostile"
"""Is in every name that no model may reach."""
_SMUGGLED = ("directory", "allow_any_path", "runtime_path", "backend_directories", "runtime_directories", "options")
_ATTRIBUTES = ("backend", "device", "path", "weights", "model", "input_names", "output_names", *_SMUGGLED)


@dataclass(frozen=True)
class Place:
    """Where the cases live: `models` is what the session allows, `outside` is what no case may reach."""

    models: Path
    outside: Path

    def texts(self) -> tuple[str, ...]:
        """What leads out of `models`, or tries to."""
        far = self.outside / f"{SIGN}.onnx"
        code = self.outside / f"liblatenn_backend_{SIGN}.so"
        up = f"../{self.outside.name}"
        return (
            *(str(far), str(code), f"{up}/{SIGN}.onnx", f"{up}/{code.name}", f"./{up}/{SIGN}.onnx"),
            *(f"deep/../{up}/{SIGN}.onnx", f"{SIGN}.onnx", f"./liblatenn_backend_{SIGN}.so", f"{SIGN}/", f"/{SIGN}"),
            *(
                f"/etc/{SIGN}",
                f"//{SIGN}/share/x.onnx",
                f"\\\\{SIGN}\\share\\x.dll",
                f"C:\\{SIGN}.dll",
                f"C:{SIGN}.onnx",
            ),
            *(f"{code},onnxruntime", f"onnxruntime,{code}", f"{up}/{SIGN}\0.onnx", f"link/{SIGN}.onnx", "link.onnx"),
            *("nul", "con.onnx", "..", ".", "", f"file://{far}", f"%2e%2e/{SIGN}", f"$HOME/{SIGN}", f"~/{SIGN}", "1"),
            *(f"AUTO:{code}", f"cuda:{code}", "cuda", "GPU", "openvino", "litert", "onnxruntime", "no_such"),
        )


def settle(folders: Place, evil: bytes) -> None:
    """Make both folders: good models inside, models and a library outside, and links between them."""
    for folder in (folders.models / "deep", folders.outside):
        folder.mkdir(parents=True)
    for name, content in _files().items():
        (folders.models / name).write_bytes(content)
        (folders.outside / f"{SIGN}{Path(name).suffix}").write_bytes(content)
    (folders.outside / f"liblatenn_backend_{SIGN}.so").write_bytes(evil)
    (folders.models / "link").symlink_to(folders.outside)
    (folders.models / "link.onnx").symlink_to(folders.outside / f"{SIGN}.onnx")


def _files() -> dict[str, bytes]:
    return {"inner.onnx": inner(), "inner.tflite": tflite.write(tflite.CASES["add"]), "inner.bin": bytes(64)}


def inner(location: str = "") -> bytes:
    """A small ONNX model with an initializer, whose data are in the file of that name, or in the model itself."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 4]) for name in "xy")
    data = helper.make_tensor("w", TensorProto.FLOAT, [2, 4], [1.0] * 8)
    if location:
        data = onnx.TensorProto(
            name="w", data_type=TensorProto.FLOAT, dims=[2, 4], data_location=onnx.TensorProto.EXTERNAL
        )
        data.external_data.add(key="location", value=location)
    nodes = [helper.make_node("Add", ["x", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"])]
    graph = helper.make_graph(nodes, "inner", [x], [y], [data])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


def group_weights(name: str) -> bytes:
    """A TensorFlow Lite model whose weights are in the file of that name."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(tflite.write(tflite.CASES["add"]), 0))
    group, buffer = schema.ExternalBufferGroupT(), schema.ExternalBufferT()
    group.name, buffer.id, buffer.length = name.replace("\0", ""), 1, 24
    model.externalBufferGroups, model.externalBuffers = [group], [buffer]
    model.subgraphs[0].tensors[1].externalBuffer = 1
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def subjects(wrap: Callable[..., onnx.ModelProto], folders: Place) -> list[bytes]:
    """Good graphs: each file of the folder as a part of the graph, and by its path."""
    models = [wrap(folders.models / name) for name in ("inner.onnx", "inner.tflite")]
    models += [wrap(folders.models / "inner.onnx", backend=name) for name in ("onnxruntime", "openvino")]
    models += [
        wrap(folders.models / name, embed=False, directory=folders.models) for name in ("inner.onnx", "inner.tflite")
    ]
    return [bytes(model.SerializeToString()) for model in models]


def case(graphs: list[bytes], folders: Place, key: str) -> bytes:
    """The model of a case; it may leave a file `case…` in the folder of models."""
    chance = random.Random(key)  # noqa: S311  # not a secret
    graph = onnx.load_model_from_string(chance.choice(graphs))
    way = chance.random()
    if way < 0.4:  # what is damaged: bytes of the graph,
        return mutate_subject([("graph.onnx", bytes(graph.SerializeToString()))], key)[1]
    if way < 0.75:  # texts,
        for _ in range(chance.choice((1, 1, 2, 3))):
            _set(graph, chance.choice(_ATTRIBUTES), chance.choice(folders.texts()))
    else:  # or the model inside
        _wrap_other(graph, folders, chance, key)
    data = bytes(graph.SerializeToString())
    return mutate_subject([("graph.onnx", data)], key)[1] if chance.random() < 0.2 else data


def unknown(graph: bytes) -> bytes:
    """The graph with a backend that is nowhere."""
    model = onnx.load_model_from_string(graph)
    _set(model, "backend", "no_such")
    return bytes(model.SerializeToString())


def unwrap_model(graph: bytes, folders: Place) -> tuple[bytes, str]:
    """The model that the node of a case holds, or names, and its backend; b"" where it has none."""
    try:
        attributes = {
            attribute.name: attribute.s for attribute in onnx.load_model_from_string(graph).graph.node[0].attribute
        }
        content = attributes.get("model") or (folders.models / attributes["path"].decode()).read_bytes()
        return content, attributes.get("backend", b"").decode()
    except Exception:  # noqa: BLE001  # a damaged graph
        return b"", ""


def _wrap_other(graph: onnx.ModelProto, folders: Place, chance: random.Random, key: str) -> None:
    text = chance.choice(folders.texts())
    content, suffix = chance.choice(((inner(text), "onnx"), (group_weights(text), "tflite"), (inner(), "onnx")))
    if chance.random() < 0.5:
        content = mutate_subject([(f"inner.{suffix}", content)], key)[1]
    _set(graph, "model", None)
    _set(graph, "path", None)
    _set(graph, "backend", chance.choice((None, "onnxruntime", "openvino", "litert")))
    if chance.random() < 0.5:
        _set(graph, "model", content)
    else:
        (folders.models / f"case.{suffix}").write_bytes(content)
        _set(graph, "path", f"case.{suffix}")


def _set(graph: onnx.ModelProto, name: str, value: Any) -> None:
    """Give the one node another attribute of that name; None takes it away."""
    node = graph.graph.node[0]
    attributes = [attribute for attribute in node.attribute if attribute.name != name]
    del node.attribute[:]
    node.attribute.extend(attributes if value is None else [*attributes, helper.make_attribute(name, value)])

"""Writes the graph around a model: one node, and the model's own inputs and outputs; must not run it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import latenn
from latenn_customop._register import OPERATOR

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import onnx

VERSION = 1
"""Of the attributes; the library refuses newer ones by name."""
_LIMIT = 2**31 - 2**20
"""Of a protobuf message, with room for what is not the model."""
_NAME = re.compile("[a-z0-9_]{1,63}")
_OPSET, _IR = 17, 8  # which every ONNX Runtime from 1.19 on reads


def wrap(  # noqa: PLR0913  # each is one choice that a user may make by name
    model: str | os.PathLike[str] | bytes,
    *,
    backend: str | None = None,
    device: str | None = None,
    name: str = "model",
    embed: bool = True,
    directory: str | os.PathLike[str] | None = None,
    options: Mapping[str, object] | None = None,
) -> onnx.ModelProto:
    """A graph with one node that is the whole model, which is loaded to learn what it takes and gives.

    `backend`, a name, and `device` are written down when they are given. `name` is the node's. `options` are for
    loading here. With `embed=False` the graph holds the model's path instead of the model: relative to `directory`,
    which the session must then name (see `register`), or else as it is given.

    Raises InvalidArgumentError for what cannot be written down, UnsupportedError without the package onnx, and whatever
    `latenn.load` raises.
    """
    try:
        from onnx import helper  # noqa: PLC0415  # only here
    except ImportError:
        raise latenn.UnsupportedError(
            'A model is wrapped with the package onnx, which is not installed: pip install "latenn-customop[wrap]"'
        ) from None
    if backend is not None and not _NAME.fullmatch(backend):
        raise latenn.InvalidArgumentError(
            f"backend is {backend!r}; a graph holds the name of one backend, such as 'onnxruntime', and no path. "
            "Leave it out here, and give it to latenn_customop.register."
        )
    with latenn.load(model, backend, device or "cpu", options) as loaded:
        inputs, outputs = loaded.inputs, loaded.outputs
    attributes = _content(model, directory, embed=embed)
    attributes |= {"input_names": _names("inputs", inputs), "output_names": _names("outputs", outputs)}
    attributes |= {key: value for key, value in (("backend", backend), ("device", device)) if value is not None}
    taken = [port.name for port in inputs]
    output_names = _apart([port.name for port in outputs], taken)
    node = helper.make_node(OPERATOR, taken, output_names, name=name, domain="latenn", version=VERSION, **attributes)
    graph = helper.make_graph([node], name, _values(taken, inputs), _values(output_names, outputs))
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("latenn", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=_IR, producer_name="latenn")


def _content(
    model: str | os.PathLike[str] | bytes, directory: str | os.PathLike[str] | None, *, embed: bool
) -> dict[str, Any]:
    """The attributes that hold the model itself."""
    if isinstance(model, bytes):
        if not embed:
            raise latenn.InvalidArgumentError("embed=False writes down a path; give the model's path, not its bytes.")
        return _fitting({"model": model})
    path = Path(model)
    if not embed:
        return {"path": path.as_posix() if directory is None else _below(path, Path(directory))}
    content: dict[str, Any] = {"model": path.read_bytes()}
    weights = path.with_suffix(".bin")
    if path.suffix.lower() == ".xml" and weights.is_file():
        content["weights"] = weights.read_bytes()
    elif path.suffix.lower() == ".onnx":
        content["model"] = _with_data(path, content["model"])
    return _fitting(content)


def _below(path: Path, folder: Path) -> str:
    """The path as a session finds it again that names the folder."""
    try:
        return path.absolute().relative_to(folder.absolute()).as_posix()
    except ValueError:
        raise latenn.InvalidArgumentError(
            f"{path} is not in {folder.absolute()} or below, where the graph's path would begin. "
            "Write the graph next to the model, or leave out embed=False (--external)."
        ) from None


def _with_data(path: Path, content: bytes) -> bytes:
    """An ONNX model with the data that it keeps in files next to it."""
    import onnx  # noqa: PLC0415  # only here

    model = onnx.load(path)
    return content if model == onnx.load_model_from_string(content) else bytes(model.SerializeToString())


def _fitting(content: dict[str, Any]) -> dict[str, Any]:
    size = sum(len(part) for part in content.values())
    if size > _LIMIT:
        raise latenn.InvalidArgumentError(
            f"The model has {size:,} bytes, and a graph holds 2 GiB: use embed=False (--external), "
            "which writes down its path."
        )
    return content


def _names(what: str, ports: Sequence[latenn.Port]) -> str:
    """Names as the node keeps them, one on each line."""
    names = [port.name for port in ports]
    for name in names:
        if not name or "\n" in name or names.count(name) > 1:
            raise latenn.InvalidArgumentError(
                f"The model has among its {what} {name!r}, {names.count(name)} times: a node needs names of one line, "
                "each of them once. Name them anew with the tool that made the model."
            )
    return "\n".join(names)


def _apart(names: list[str], taken: Sequence[str]) -> list[str]:
    """Names of values that are not among those taken: a graph has each once, a model may give what it is given."""
    used = set(taken) | set(names)
    result = []
    for name in names:
        unique = name
        while unique in taken or (unique != name and unique in used):
            unique += "_out"
        result.append(unique)
        used.add(unique)
    return result


def _values(names: Sequence[str], ports: Sequence[latenn.Port]) -> list[onnx.ValueInfoProto]:
    from onnx import TensorProto, helper  # noqa: PLC0415  # only here

    short = {"float32": "FLOAT", "float64": "DOUBLE"}
    kinds = [TensorProto.DataType.Value(short.get(port.type, port.type.upper())) for port in ports]
    return [
        helper.make_tensor_value_info(name, kind, port.shape)
        for name, kind, port in zip(names, kinds, ports, strict=True)
    ]

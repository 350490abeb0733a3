"""Small cases in the format of latenn's consumers in C and for .NET, also with a wrong number."""

from __future__ import annotations

import importlib.util
import json
import shutil
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
from onnx import TensorProto, helper

from tests.support.latenn import LATENN


@cache
def case_files() -> ModuleType:
    """verify/case_files.py, which is not part of a package."""
    spec = importlib.util.spec_from_file_location("latenn_case_files", LATENN / "verify" / "case_files.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class CaseWriter:
    """Writes the input of the consumers."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._cases: list[dict[str, object]] = []

    def add(self, name: str, model: bytes, inputs: list[tuple], outputs: list[tuple]) -> None:
        """A case with one set of inputs and outputs, each (name, type, array)."""
        sets = [
            {
                "inputs": [self._tensor(*tensor) for tensor in inputs],
                "outputs": [self._tensor(*tensor) for tensor in outputs],
            }
        ]
        self._cases.append({"name": name, "model": self._append(model), "rtol": 1e-3, "atol": 1e-7, "sets": sets})

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        document = {"source": f"onnx {onnx.__version__}", "cases": self._cases}
        (folder / "cases.bin").write_bytes(self._data)
        case_files().write_cases(folder, document)
        return folder

    def _append(self, data: bytes) -> list[int]:
        span = [len(self._data), len(data)]
        self._data += data
        return span

    def _tensor(self, name: str, type_: int, array: np.ndarray) -> dict[str, object]:
        tensor = {"name": name, "type": type_, "shape": list(array.shape), "offsets": None}
        if type_ != TensorProto.STRING:
            return tensor | {"data": self._append(np.ascontiguousarray(array).tobytes())}
        texts = [text.encode() for text in array.ravel()]
        offsets = np.cumsum([0, *map(len, texts)]).astype("<i8")
        return tensor | {"data": self._append(b"".join(texts)), "offsets": self._append(offsets.tobytes())}


def identity_model(type_: int, shape: list[object]) -> bytes:
    """y = Identity(x)."""
    ports = [helper.make_tensor_value_info(name, type_, shape) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "test", ports[:1], ports[1:])
    opsets = [helper.make_opsetid("", 19)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


def small_cases(folder: Path) -> Path:
    """Identity for every type that ONNX Runtime and NumPy share, texts, a scalar, an empty tensor."""
    cases = CaseWriter()
    for type_, dtype in NUMERIC.items():
        array = (np.arange(12).reshape(3, 4) % 2).astype(dtype)
        cases.add(f"identity_{type_}", identity_model(type_, ["n", 4]), [("x", type_, array)], [("y", type_, array)])
    odd = {
        "text": (TensorProto.STRING, np.array([["héllo", ""], ["日本", "a\0b"]], object)),
        "scalar": (TensorProto.FLOAT, np.array(3, "f4")),
        "empty": (TensorProto.INT64, np.zeros((0, 4), "i8")),
        "special": (TensorProto.FLOAT, np.array([np.nan, np.inf, -np.inf, -0.0], "f4")),
    }
    for name, (type_, array) in odd.items():
        model = identity_model(type_, list(array.shape))
        cases.add(name, model, [("x", type_, array)], [("y", type_, array)])
    return cases.write(folder)


def spoiled_cases(cases: Path, folder: Path) -> Path:
    """The small cases with a wrong number in what the first one expects."""
    shutil.copytree(cases, folder)
    document = json.loads((cases / "cases.json").read_bytes())
    data = bytearray((cases / "cases.bin").read_bytes())
    data[document["cases"][0]["sets"][0]["outputs"][0]["data"][0] + 3] ^= 0x40
    (folder / "cases.bin").write_bytes(data)
    return folder


NUMERIC = {number: helper.tensor_dtype_to_np_dtype(number).name for number in (*range(1, 8), *range(9, 14))}
NUMERIC[TensorProto.BFLOAT16] = "u2"
"""bfloat16 by its bits: Identity does not look at them."""

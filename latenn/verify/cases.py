"""Writes ONNX's own backend node tests as cases.json, cases.txt and cases.bin, for consumers in any language.

    python cases.py FOLDER          (in an environment that has the package `onnx`)

cases.json: {"source": "onnx 1.22.0", "cases": [CASE], "out_of_scope": {name: reason}}
CASE: {"name", "model": [offset, size], "rtol", "atol", "sets": [{"inputs": [TENSOR], "outputs": [TENSOR]}]}
TENSOR: {"name", "type", "shape", "data": [offset, size], "offsets": [offset, size] or null}
Offsets point into cases.bin. `type` is ONNX's TensorProto.DataType. Data is little-endian and C-contiguous; strings
lie one after the other, with int64 offsets of count + 1 positions.

cases.txt says the same, without the offsets of strings, to readers that have no JSON, in words between blanks:
`case NAME RTOL ATOL OFFSET SIZE`, then for each set `set` and for each tensor
`input|output NAME TYPE OFFSET SIZE RANK DIMENSION...`.

Models, inputs, expected outputs and tolerances are ONNX's; nothing is computed here. A test that carries a sequence,
map or optional value is out of scope and is listed by name.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

# ONNX's defaults for node tests: onnx/backend/test/case/test_case.py, onnx/backend/test/loader/__init__.py
STRING = onnx.TensorProto.STRING


class OutOfScopeError(Exception):
    """The test carries something that is not a tensor."""


class Blob:
    """cases.bin while it is written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._end = 0

    def add(self, data: bytes) -> list[int]:
        """Append and return [offset, size]."""
        place = [self._end, len(data)]
        self._file.write(data)
        self._end += len(data)
        return place


def main() -> int:
    """Write the two files. Exit status 2 for usage."""
    if len(sys.argv) != 2:  # noqa: PLR2004  # program and folder
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    cases: list[dict[str, Any]] = []
    out_of_scope = {}
    with (folder / "cases.bin").open("wb") as file:
        blob = Blob(file)
        for test in sorted(load_model_tests(kind="node"), key=lambda test: str(test.name)):
            try:
                cases.append(_case(test, blob))
            except OutOfScopeError as reason:
                out_of_scope[test.name] = str(reason)
    document = {"source": f"onnx {onnx.__version__}", "cases": cases, "out_of_scope": out_of_scope}
    (folder / "cases.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "cases.txt").write_text(words(cases), encoding="utf-8")
    print(f"{len(cases)} cases of onnx {onnx.__version__}, {len(out_of_scope)} out of scope")
    return 0


def words(cases: list[dict[str, Any]]) -> str:
    """The text of cases.txt."""
    lines = []
    for case in cases:
        lines.append(["case", case["name"], case["rtol"], case["atol"], *case["model"]])
        for one in case["sets"]:
            lines.append(["set"])
            for side in ("inputs", "outputs"):
                for row in one[side]:
                    shape = [len(row["shape"]), *row["shape"]]
                    lines.append([side.removesuffix("s"), row["name"], row["type"], *row["data"], *shape])
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)


def _case(test: Any, blob: Blob) -> dict[str, Any]:
    folder = Path(test.model_dir)
    model_bytes = (folder / "model.onnx").read_bytes()
    model = onnx.load_model_from_string(model_bytes)
    given = {value.name for value in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in given]
    for value in [*inputs, *model.graph.output]:
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type":
            raise OutOfScopeError(f"{value.name} is a {str(kind).removesuffix('_type')}")
    sides = {"inputs": inputs, "outputs": model.graph.output}
    sets = [
        {side: _tensors(data, side.removesuffix("s"), values, blob) for side, values in sides.items()}
        for data in sorted(folder.glob("test_data_set_*"))
    ]
    return {"name": test.name, "model": blob.add(model_bytes), "rtol": test.rtol, "atol": test.atol, "sets": sets}


def _tensors(folder: Path, side: str, values: Any, blob: Blob) -> list[dict[str, object]]:
    files = sorted(folder.glob(f"{side}_*.pb"), key=lambda path: int(path.stem.rpartition("_")[2]))
    rows = []
    for value, file in zip(values, files, strict=False):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(file.read_bytes())
        if side == "input" and tensor.data_type != value.type.tensor_type.elem_type:  # ONNX 1.16: uint16 for bfloat16
            raise OutOfScopeError(f"the data of {value.name} is not of the model's type")
        data, offsets = _content(tensor)
        rows.append(
            {
                "name": value.name,
                "type": tensor.data_type,
                "shape": list(tensor.dims),
                "data": blob.add(data),
                "offsets": None if offsets is None else blob.add(offsets),
            }
        )
    return rows


def _content(tensor: Any) -> tuple[bytes, bytes | None]:
    if tensor.data_type == STRING:
        texts = list(tensor.string_data)
        ends = np.cumsum([0, *map(len, texts)], dtype="<i8")
        return b"".join(texts), ends.tobytes()
    if tensor.HasField("raw_data"):
        return bytes(tensor.raw_data), None
    wide = {onnx.TensorProto.FLOAT16: "<u2", onnx.TensorProto.BFLOAT16: "<u2"}
    if tensor.data_type in wide:
        return np.asarray(tensor.int32_data, dtype=np.int32).astype(wide[tensor.data_type]).tobytes(), None
    if tensor.data_type > onnx.TensorProto.BFLOAT16:  # 8 and 4 bit types: one int32 for each byte
        return np.asarray(tensor.int32_data, dtype=np.int32).astype("<u1").tobytes(), None
    array = numpy_helper.to_array(tensor)
    return array.astype(array.dtype.newbyteorder("<")).tobytes(), None


if __name__ == "__main__":
    sys.exit(main())

"""Writes ONNX's own backend node tests as cases.json, cases.txt and cases.bin, for consumers in any language.

    python cases.py FOLDER          (in an environment that has the package `onnx`)

case_files.py says what the files hold. Models, inputs, expected outputs and tolerances are ONNX's; nothing is computed
here. A test that carries a sequence, map or optional value is out of scope and is listed by name.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

sys.path.append(str(Path(__file__).parent))
from case_files import write_cases  # a module next to this script, which runs isolated

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
        span = [self._end, len(data)]
        self._file.write(data)
        self._end += len(data)
        return span


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
    write_cases(folder, document)
    print(f"{len(cases)} cases of onnx {onnx.__version__}, {len(out_of_scope)} out of scope")
    return 0


def _case(test: Any, blob: Blob) -> dict[str, Any]:
    folder = Path(test.model_dir)
    model_bytes = (folder / "model.onnx").read_bytes()
    model = onnx.load_model_from_string(model_bytes)
    initialized = {value.name for value in model.graph.initializer}
    inputs = [value for value in model.graph.input if value.name not in initialized]
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
    tensors = []
    for value, file in zip(values, files, strict=False):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(file.read_bytes())
        if side == "input" and tensor.data_type != value.type.tensor_type.elem_type:  # ONNX 1.16: uint16 for bfloat16
            raise OutOfScopeError(f"the data of {value.name} is not of the model's type")
        data, offsets = _content(tensor)
        tensors.append(
            {
                "name": value.name,
                "type": tensor.data_type,
                "shape": list(tensor.dims),
                "data": blob.add(data),
                "offsets": None if offsets is None else blob.add(offsets),
            }
        )
    return tensors


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

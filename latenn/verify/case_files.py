"""Writes cases for consumers in any language.

cases.json: {"source": "onnx 1.22.0", "cases": [CASE], "out_of_scope": {name: reason}}
CASE: {"name", "model": [offset, size], "rtol", "atol", "sets": [{"inputs": [TENSOR], "outputs": [TENSOR]}]}
TENSOR: {"name", "type", "shape", "data": [offset, size], "offsets": [offset, size] or null}
Offsets point into cases.bin. `type` is ONNX's TensorProto.DataType. Data is little-endian and C-contiguous; strings
lie one after the other, with int64 offsets of count + 1 positions.

cases.txt says the same, without the offsets of strings, to readers that have no JSON, in words between blanks:
`case NAME RTOL ATOL OFFSET SIZE`, then for each set `set` and for each tensor
`input|output NAME TYPE OFFSET SIZE RANK DIMENSION...`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def write_cases(folder: Path, document: dict[str, Any]) -> None:
    """Write cases.json and cases.txt next to cases.bin."""
    (folder / "cases.json").write_text(json.dumps(document), encoding="utf-8")
    (folder / "cases.txt").write_text(_words(document["cases"]), encoding="utf-8", newline="\n")


def _words(cases: list[dict[str, Any]]) -> str:
    """The text of cases.txt."""
    lines = []
    for case in cases:
        lines.append(["case", case["name"], case["rtol"], case["atol"], *case["model"]])
        for sample in case["sets"]:
            lines.append(["set"])
            for side in ("inputs", "outputs"):
                for tensor in sample[side]:
                    shape = [len(tensor["shape"]), *tensor["shape"]]
                    lines.append([side.removesuffix("s"), tensor["name"], tensor["type"], *tensor["data"], *shape])
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)

"""The Python consumer that `latebind verify` runs in clean environments: ONNX's node tests through latenn.

    python smoke.py --cases FOLDER --out RESULT.json [--runtime R] [--runtime-path P] [--runtime-minimum V] [--sample N]
    python smoke.py --cases FOLDER --out RESULT.json [--runtime R] --reference

It needs NumPy and latenn; ml_dtypes for the types that NumPy lacks. `--reference` runs the same cases through the
runtime's own Python API instead (runtimes.py), in an environment without latenn: what that cannot compute does not
count against latenn. It leaves out the cases in the JSON file that LATEBIND_PASSED names, and those that are not in the
one that LATEBIND_ONLY names. RESULT.json:

    {"report": the loader's report, "passed": [names], "failed": [{"name", "message"}], "out_of_scope": {name: reason},
     "libraries": [mapped files of latenn and the runtime]}

or {"error": {"type", "code", "message", "report"}} when no model could be loaded at all.

Exit status: 0 all passed, 1 some failed, 3 no usable runtime.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    Arrays = dict[str, NDArray[Any]]
    Runner = Callable[[bytes, Arrays], list[NDArray[Any]]]

STRING = 8
# ONNX's TensorProto.DataType for the types that NumPy has itself ...
DTYPES = {
    1: "f4",
    2: "u1",
    3: "i1",
    4: "u2",
    5: "i2",
    6: "i4",
    7: "i8",
    9: "?",
    10: "f2",
    11: "f8",
    12: "u4",
    13: "u8",
    14: "c8",
    15: "c16",
}
# ... and for those that come from ml_dtypes.
EXTENDED = {
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    21: "uint4",
    22: "int4",
}
PACKED = (21, 22)
# For a session of each of 1,300 cases, threads of its own are up to a third of all work. Samples have them.
ONE_THREAD = {"onnxruntime": {"intra_op_num_threads": 1}, "openvino": {"INFERENCE_NUM_THREADS": "1"}}
# What the files of a runtime are called.
NAMES = {"onnxruntime": ("onnxruntime",), "openvino": ("openvino",), "litert": ("LiteRt",)}


class Cases:
    """cases.json and cases.bin."""

    def __init__(self, folder: Path, sample: int) -> None:
        document = json.loads((folder / "cases.json").read_text("utf-8"))
        self._blob = (folder / "cases.bin").read_bytes()
        cases: list[dict[str, Any]] = document["cases"]
        self.rows = [cases[n * len(cases) // sample] for n in range(sample)] if 0 < sample < len(cases) else cases
        self.out_of_scope: dict[str, str] = document["out_of_scope"]

    def part(self, span: list[int]) -> bytes:
        """The bytes at [offset, size]."""
        return self._blob[span[0] : span[0] + span[1]]

    def array(self, tensor: dict[str, Any]) -> NDArray[Any]:
        """A tensor as an array."""
        data, kind = self.part(tensor["data"]), tensor["type"]
        if kind == STRING:
            flat = self._strings(data, tensor["offsets"])
        elif kind in DTYPES:
            flat = np.frombuffer(data, np.dtype(DTYPES[kind]).newbyteorder("<"))
        else:
            flat = _read_extended(data, kind, math.prod(tensor["shape"]))
        shaped: NDArray[Any] = flat.reshape(tensor["shape"])
        return shaped

    def _strings(self, data: bytes, offsets: list[int]) -> NDArray[Any]:
        ends = np.frombuffer(self.part(offsets), "<i8").tolist()
        texts = [data[a:b].decode("utf-8", "surrogateescape") for a, b in itertools.pairwise(ends)]
        array = np.empty(len(texts), dtype=object)
        array[:] = texts
        return array


def _read_extended(data: bytes, kind: int, count: int) -> NDArray[Any]:
    """Elements of a type of ml_dtypes. Raises TypeError for one that it does not have."""
    if kind not in EXTENDED:
        raise TypeError(f"element type {kind} has no NumPy dtype")
    import ml_dtypes  # noqa: PLC0415  # without it, the cases that need it fail and no others

    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, EXTENDED[kind]))
    if kind not in PACKED:
        return np.frombuffer(data, dtype)
    pairs = np.frombuffer(data, np.uint8)
    halves = np.stack([pairs & 15, pairs >> 4], axis=1).ravel()[:count].astype(np.int8)
    signed = np.where(halves > 7, halves - 16, halves) if EXTENDED[kind] == "int4" else halves  # noqa: PLR2004  # 4 bits
    return signed.astype(dtype)


def main(argv: list[str] | None = None) -> int:
    """Run one mode and write the result. Called as a program, or with arguments from several threads or processes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--runtime", choices=("onnxruntime", "openvino", "litert"), default="onnxruntime")
    parser.add_argument("--runtime-path")
    parser.add_argument("--runtime-minimum")
    parser.add_argument("--sample", type=int, default=0, help="so many cases, evenly spread, instead of all")
    parser.add_argument("--reference", action="store_true", help="the runtime's own API instead of latenn")
    arguments = parser.parse_args(argv)
    cases = Cases(arguments.cases, arguments.sample)
    result, status = _reference(cases, arguments.runtime) if arguments.reference else _latenn(cases, arguments)
    arguments.out.write_text(json.dumps(result, indent=1), encoding="utf-8")
    return status


def _latenn(cases: Cases, arguments: argparse.Namespace) -> tuple[dict[str, Any], int]:
    import latenn  # noqa: PLC0415  # --reference must not load it

    choice: dict[str, Any] = {"runtime_path": arguments.runtime_path, "runtime_minimum": arguments.runtime_minimum}
    if arguments.runtime != "onnxruntime":  # which the encoding chooses
        choice["backend"] = arguments.runtime
    if not arguments.sample and arguments.runtime in ONE_THREAD:
        choice["options"] = ONE_THREAD[arguments.runtime]

    def run(model: bytes, inputs: Arrays) -> list[NDArray[Any]]:
        with latenn.load(model, **choice) as loaded:
            return list(loaded.run(inputs).values())

    try:
        with latenn.load(cases.part(cases.rows[0]["model"]), **choice) as first:
            report = first.report
    except latenn.LatennError as error:
        text = {"type": type(error).__name__, "code": error.code, "message": str(error), "report": error.report}
        return {"error": text}, 3
    passed, failed = _run_all(cases, run)
    libraries = sorted(_find_mapped("latenn", *NAMES[arguments.runtime]))
    return {
        "report": report,
        "passed": passed,
        "failed": failed,
        "out_of_scope": cases.out_of_scope,
        "libraries": libraries,
    }, int(bool(failed))


def _reference(cases: Cases, runtime: str) -> tuple[dict[str, Any], int]:
    sys.path.append(str(Path(__file__).parent))
    import runtimes  # noqa: PLC0415  # only here

    if file := os.environ.get("LATEBIND_PASSED"):
        left_out = frozenset(json.loads(Path(file).read_text("utf-8")))
        cases.rows = [case for case in cases.rows if case["name"] not in left_out]
    if file := os.environ.get("LATEBIND_ONLY"):
        wanted = frozenset(json.loads(Path(file).read_text("utf-8")))
        cases.rows = [case for case in cases.rows if case["name"] in wanted]
    run: Runner = getattr(runtimes, runtime)()
    passed, failed = _run_all(cases, run)
    return {"passed": passed, "failed": failed}, 0


def _run_all(cases: Cases, run: Runner) -> tuple[list[str], list[dict[str, str]]]:
    passed, failed = [], []
    for case in cases.rows:
        try:
            for data in case["sets"]:
                inputs = {tensor["name"]: cases.array(tensor) for tensor in data["inputs"]}
                outputs = run(cases.part(case["model"]), inputs)
                _agree(outputs, [cases.array(tensor) for tensor in data["outputs"]], case["rtol"], case["atol"])
            passed.append(case["name"])
        except Exception as error:  # noqa: BLE001  # every kind of failure is a failed case, with its words
            failed.append({"name": case["name"], "message": f"{type(error).__name__}: {error}"[:600]})
    return passed, failed


def _agree(outputs: list[Any], expected: list[NDArray[Any]], rtol: float, atol: float) -> None:
    """ONNX's own comparison (onnx/backend/test/runner): equal type and shape; numbers within the case's tolerance."""
    if len(outputs) != len(expected):
        raise AssertionError(f"{len(outputs)} outputs, expected {len(expected)}")
    for got, want in zip(outputs, expected, strict=True):
        value = np.asarray(got)
        if value.dtype != want.dtype or value.shape != want.shape:
            raise AssertionError(f"{value.dtype}{value.shape}, expected {want.dtype}{want.shape}")
        if want.dtype.name in EXTENDED.values():
            value, reference = value.astype("f4"), want.astype("f4")
        else:
            reference = want
        is_number = reference.dtype.kind in "fc"
        # Not by numpy.testing, which cx_Freeze leaves out of programs.
        right = np.isclose(value, reference, rtol=rtol, atol=atol, equal_nan=True) if is_number else value == reference
        if not np.all(right):
            raise AssertionError(f"{np.size(right) - np.count_nonzero(right)} of {np.size(right)} elements differ")


def _find_mapped(*terms: str) -> Iterator[str]:
    """Libraries in this process whose name contains one of the words; nothing without /proc."""
    maps = Path("/proc/self/maps")
    if maps.exists():
        lines = maps.read_text("utf-8", "surrogateescape").splitlines()
        paths = {line.split(None, 5)[5] for line in lines if len(line.split(None, 5)) > 5}  # noqa: PLR2004
        libraries = (path for path in paths if ".so" in Path(path).name)
        yield from (path for path in libraries if any(term in Path(path).name for term in terms))


if __name__ == "__main__":
    sys.exit(main())

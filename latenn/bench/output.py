"""Time and peak memory of one large output whose shape only the computation knows: latenn next to onnxruntime.

    python latenn/bench/output.py [--megabytes N] [--rounds N]

Every contender runs in processes of its own, in turn; latenn and latenn-onnxruntime must be importable. Prints medians.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_UNIT = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss
_RUNS = 5


def model() -> bytes:
    """big = x, expanded to the shape that is given."""
    graph = helper.make_graph(
        [helper.make_node("Expand", ["x", "shape"], ["big"])],
        "output",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [1]),
            helper.make_tensor_value_info("shape", TensorProto.INT64, [2]),
        ],
        [helper.make_tensor_value_info("big", TensorProto.FLOAT, ["rows", "columns"])],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return bytes(made.SerializeToString())


def onnxruntime(inputs: dict[str, Any]) -> Callable[[], Any]:
    """The runtime's own Python API."""
    import onnxruntime as ort  # noqa: PLC0415  # only in the process of this contender

    session = ort.InferenceSession(model(), providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)[0]


def latenn_run(inputs: dict[str, Any]) -> Callable[[], Any]:
    """A new array for every run."""
    import latenn  # noqa: PLC0415  # only in the process of this contender

    loaded = latenn.load(model())
    return lambda: loaded.run(inputs)["big"]


def latenn_bound(inputs: dict[str, Any]) -> Callable[[], Any]:
    """The runtime's memory, handed over."""
    import latenn  # noqa: PLC0415  # only in the process of this contender

    binding = latenn.load(model()).bind()
    binding.inputs.update(inputs)
    return lambda: np.asarray(binding.run()["big"])


CONTENDERS = {"onnxruntime": onnxruntime, "latenn run": latenn_run, "latenn bound": latenn_bound}


def measure(name: str, megabytes: int) -> dict[str, float]:
    """Seconds of a run, the first left out, and by how many megabytes the process grew at its peak."""
    inputs = {"x": np.ones(1, np.float32), "shape": np.array([megabytes, 1 << 18])}
    go = CONTENDERS[name](inputs)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(_RUNS):
        start = time.perf_counter()
        result = go()
        seconds.append(time.perf_counter() - start)
        assert result[-1, -1] == 1  # noqa: S101  # it was computed
        del result
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": statistics.median(seconds[1:]), "grew": (after - before) * _UNIT / (1 << 20)}


def rounds(megabytes: int, count: int, env: Mapping[str, str]) -> dict[str, list[dict[str, float]]]:
    """What `measure` found of every contender, in turn, in processes of their own."""
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in CONTENDERS}
    for _ in range(count):
        for name, found in rows.items():
            command = [sys.executable, __file__, "--megabytes", str(megabytes), "--only", name]
            done = subprocess.run(command, env={**os.environ, **env}, check=True, stdout=subprocess.PIPE)
            found.append(json.loads(done.stdout))
    return rows


def main() -> None:
    """Run every contender in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=CONTENDERS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(measure(arguments.only, arguments.megabytes)))
        return
    for name, found in rounds(arguments.megabytes, arguments.rounds, {}).items():
        seconds, grew = (statistics.median(row[key] for row in found) for key in ("seconds", "grew"))
        print(f"{name:14} {seconds * 1000:8.1f} ms {grew:8.1f} MB more at the peak")


if __name__ == "__main__":
    main()
